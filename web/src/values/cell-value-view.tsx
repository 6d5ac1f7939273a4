import { Check, X } from 'lucide-react'
import type { FieldType, SheetField } from '../api/contract.ts'
import './cell-value-view.css'
import type { ColumnFormat } from './column-format.ts'
import { formatUtc, formatValue } from './format-value.ts'
import { imageAdvice } from './image-hosts.ts'
import { ImageValue, isShownImage } from './image-value.tsx'
import { MarkdownLine } from './markdown-text.tsx'
import { linkOf } from './text-link.ts'

/** The maximum rendered length of a text in a cell. */
const MAX_TEXT = 300
const MAX_CHIPS = 12

interface CellValueViewProps {
  readonly type: FieldType | null
  readonly value: unknown
  /** The closed list of the field: its values are chips, each in its own colour. */
  readonly values?: SheetField['values']
  /** The format of the column. With one, texts may be links, images or Markdown. */
  readonly format?: ColumnFormat | undefined
}

/** A value as a cell shows it, on one line. */
export function CellValueView({ type, value, values = null, format }: CellValueViewProps) {
  if (value === null || value === undefined) return <Nothing />
  const place = values?.indexOf(value as string) ?? -1
  if (place >= 0 && typeof value !== 'boolean')
    return <ListedValue place={place} text={formatValue(type, value, format)} />
  if (typeof value === 'boolean') return <BooleanValue value={value} />
  if (typeof value === 'number')
    return <span className="value number">{formatValue(type, value, format)}</span>
  if (Array.isArray(value)) return <ArrayValue items={value} />
  if (typeof value === 'object') return <code className="value json">{cut(formatValue(type, value))}</code>
  if (type === 'timestamp') return <TimestampValue text={formatPlain(value)} format={format} />
  if (type === 'string' && format !== undefined)
    return <TextValue text={formatPlain(value)} format={format} />
  return (
    <span className={type === 'date' || type === 'time' ? 'value digits' : 'value'}>
      {cut(formatPlain(value))}
    </span>
  )
}

function Nothing() {
  return (
    <span className="value nothing">
      <span aria-hidden="true">–</span>
      <span className="visually-hidden">no value</span>
    </span>
  )
}

/** The number of colours in cell-value-view.css. */
const HUES = 10

/** A value of a closed list. */
function ListedValue({ place, text }: { readonly place: number; readonly text: string }) {
  return (
    <span className="value">
      <span className="chip listed" data-hue={place % HUES}>
        {text}
      </span>
    </span>
  )
}

function BooleanValue({ value }: { readonly value: boolean }) {
  const Icon = value ? Check : X
  return (
    <span className={`value boolean ${String(value)}`} role="img" aria-label={value ? 'true' : 'false'}>
      <Icon size={15} strokeWidth={value ? 2.5 : 2} />
    </span>
  )
}

interface TextProps {
  readonly text: string
  readonly format?: ColumnFormat | undefined
}

/** A text as its column shows it. */
function TextValue({ text, format = {} }: TextProps) {
  if (format.appearance === 'image' && isShownImage(text)) return <ImageValue source={text} />
  if (format.appearance === 'markdown') return <MarkdownLine text={cut(text)} />
  const link = format.appearance === 'plain' ? null : linkOf(text)
  if (link === null) return <span className="value">{cut(text)}</span>
  return (
    <span className="value">
      {/* The grid has the keyboard focus for all of its cells; the panel has the link for it. */}
      <a
        className="value-link"
        href={link}
        target="_blank"
        rel="noopener noreferrer"
        tabIndex={-1}
        title={format.appearance === 'image' && /^https?:/i.test(link) ? imageAdvice(link) : undefined}
        // A double click edits.
        onClick={(event) => event.detail > 1 && event.preventDefault()}
      >
        {cut(text)}
      </a>
    </span>
  )
}

function TimestampValue({ text, format }: TextProps) {
  return (
    <time className="value digits" dateTime={text} title={formatUtc(text)}>
      {formatValue('timestamp', text, format)}
    </time>
  )
}

function ArrayValue({ items }: { readonly items: readonly unknown[] }) {
  if (items.length === 0) return <span className="value nothing">[ ]</span>
  return (
    <span className="value chips">
      {items.slice(0, MAX_CHIPS).map((item, index) => (
        // Items have no keys and may repeat.
        // oxlint-disable-next-line react/no-array-index-key
        <span key={index} className="chip">
          {item === null ? 'null' : cut(formatValue(null, item))}
        </span>
      ))}
      {items.length > MAX_CHIPS && <span className="chip more">+{items.length - MAX_CHIPS}</span>}
    </span>
  )
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

/** The remaining values are text; others would violate the API, but are shown. */
function formatPlain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
