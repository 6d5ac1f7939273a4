import { useState } from 'react'
import type { FieldType } from '../../api/contract.ts'
import { CellValueView } from '../../values/cell-value-view.tsx'
import type { ColumnFormat } from '../../values/column-format.ts'
import { formatValue } from '../../values/format-value.ts'
import { ImageValue, isShownImage } from '../../values/image-value.tsx'
import { MarkdownText } from '../../values/markdown-text.tsx'
import { linkOf } from '../../values/text-link.ts'
import { Button } from '../../ui/button.tsx'
import './full-value.css'
import { countOf } from '../../ui/format.ts'

/** The length of a text that is shown before "Show all". */
const SHORT_TEXT = 600
/** The length up to which a text is shown large. */
const BRIEF_TEXT = 60

interface FullValueProps {
  readonly type: FieldType | null
  readonly value: unknown
  readonly format?: ColumnFormat
}

/** A value in full, on several lines if needed. */
export function FullValue({ type, value, format = {} }: FullValueProps) {
  if (value === null || value === undefined) return <span className="full-value empty">No value</span>
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((item) => typeof item !== 'object' || item === null)
  ) {
    return (
      <ul className="full-value items">
        {value.map((item, index) => (
          // Items may repeat.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index}>{item === null ? 'null' : formatValue(null, item)}</li>
        ))}
      </ul>
    )
  }
  if (typeof value === 'object') return <LongText text={plainValue(value)} isCode />
  if (typeof value === 'boolean') {
    return (
      <span className="full-value boolean">
        <CellValueView type={type} value={value} /> {String(value)}
      </span>
    )
  }
  if (typeof value === 'string' && format.appearance === 'image' && isShownImage(value))
    return (
      <span className="full-value picture">
        <ImageValue source={value} />
      </span>
    )
  if (typeof value === 'string' && type !== 'timestamp')
    return format.appearance === 'markdown' ? (
      <div className="full-value text long">
        <MarkdownText text={value} />
      </div>
    ) : (
      <LongText text={value} />
    )
  return (
    <span className="full-value">
      <CellValueView type={type} value={value} format={format} />
    </span>
  )
}

function LongText({ text, isCode = false }: { readonly text: string; readonly isCode?: boolean }) {
  const [isWhole, setIsWhole] = useState(false)
  const isLong = text.length > SHORT_TEXT
  const shown = isLong && !isWhole ? `${text.slice(0, SHORT_TEXT)}…` : text
  const link = isCode ? null : linkOf(text)
  const look = isCode ? 'code' : text.length > BRIEF_TEXT ? 'text long' : 'text'
  return (
    <div className={`full-value ${look}`}>
      {text === '' ? (
        <span className="empty">Empty text</span>
      ) : link === null ? (
        shown
      ) : (
        <a href={link} target="_blank" rel="noopener noreferrer">
          {shown}
        </a>
      )}
      {isLong && (
        <Button look="quiet" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${countOf(text.length, 'character')}`}
        </Button>
      )}
    </div>
  )
}

/** Returns a value as text to copy: strings as they are, others as JSON. */
export function plainValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
