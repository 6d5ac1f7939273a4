import { Fragment, useMemo } from 'react'
import { aroundChanges, diffLines, diffWords, shortened, type Excerpt, type DiffPart } from './diff.ts'
import './diff-view.css'

interface DiffProps {
  readonly was: string
  readonly is: string
}

/** The unchanged text to keep around a change. */
const KEPT_CHARACTERS = 40
const KEPT_LINES = 1

/** The difference of two texts, word by word. */
export function WordDiff({ was, is }: DiffProps) {
  const parts = useMemo(() => diffWords(was, is), [was, is])
  return (
    <span className="word-diff">
      {parts.map((part, index) => (
        // Parts have no keys.
        // oxlint-disable-next-line react/no-array-index-key
        <Fragment key={index}>{wordPart(part, placeOf(index, parts.length))}</Fragment>
      ))}
    </span>
  )
}

function placeOf(index: number, count: number): 'start' | 'middle' | 'end' {
  if (index === 0) return 'start'
  return index === count - 1 ? 'end' : 'middle'
}

function wordPart({ is, text }: DiffPart, place: 'start' | 'middle' | 'end') {
  switch (is) {
    case 'same':
      return shortened(text, place, KEPT_CHARACTERS)
    case 'gone':
      return <del>{text}</del>
    case 'new':
      return <ins>{text}</ins>
  }
}

/** The difference of two texts, line by line, with context lines. */
export function LineDiff({ was, is, label = 'Changes' }: DiffProps & { readonly label?: string }) {
  const lines = useMemo(() => aroundChanges(diffLines(was.trimEnd(), is.trimEnd()), KEPT_LINES), [was, is])
  return (
    <pre className="line-diff" tabIndex={0} aria-label={label}>
      {lines.map((line, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <Line key={index} line={line} />
      ))}
    </pre>
  )
}

function Line({ line }: { readonly line: Excerpt }) {
  switch (line.is) {
    case 'omitted':
      return (
        <span className="line omitted">
          {line.count === 1 ? '1 unchanged line' : `${line.count} unchanged lines`}
        </span>
      )
    case 'same':
      return <span className="line">{line.text}</span>
    case 'gone':
      return <del className="line">{line.text}</del>
    case 'new':
      return <ins className="line">{line.text}</ins>
  }
}
