import type { TextEdit } from './yaml-edit.ts'
import type { Entry, YamlSource } from './yaml-source.ts'

/** A collection in brackets. */
export interface FlowPlace {
  readonly entries: readonly Entry[]
  /** The index of the opening bracket. */
  readonly open: number
  /** The index of the closing bracket. */
  readonly close: number
}

/** Whether keys and texts are written as in JSON. */
export function isJson(source: YamlSource, { entries }: FlowPlace): boolean {
  return entries.length > 0 && entries.every(({ start, key }) => key !== null && source.text[start] === '"')
}

/** Returns the edits that insert members at an index. */
export function insertFlow(
  source: YamlSource,
  place: FlowPlace,
  index: number,
  texts: readonly string[],
): TextEdit[] {
  const { entries, open, close } = place
  const text = texts.join(', ')
  const inLines = (column: number): string => texts.join(`,${source.eol}${' '.repeat(column)}`)
  const before = entries[index - 1]
  if (before === undefined) {
    const next = entries[0]
    if (next === undefined) return insertInEmpty(source, place, text)
    if (!source.isFirstInLine(next.start)) return [at(next.start, `${text}, `)]
    const column = source.column(next.start)
    return [at(next.start, `${inLines(column)},${source.eol}${' '.repeat(column)}`)]
  }
  const comma = commaAfter(source, before.end)
  const isInLines = source.isFirstInLine(before.start) && source.lineStart(before.start) > open
  if (!isInLines) {
    if (comma === null) return [at(before.end, `, ${text}`)]
    const isLast = index === entries.length
    return [at(comma + 1, isLast ? ` ${text}` : ` ${text},`)]
  }
  const line = source.lineEnd(comma ?? before.end)
  const column = source.column(before.start)
  const own = `${source.eol}${' '.repeat(column)}${inLines(column)}`
  // The bracket may be on the same line.
  if (line > close) return [at(before.end, `,${own}`)]
  return comma === null ? [at(before.end, ','), at(line, own)] : [at(line, `${own},`)]
}

function insertInEmpty(source: YamlSource, { open, close }: FlowPlace, text: string): TextEdit[] {
  const inside = source.text.slice(open + 1, close)
  if (inside.trim() === '') return [{ start: open + 1, end: close, text }]
  return [at(close, `${text}${source.eol}${' '.repeat(source.column(close))}`)]
}

/** Returns the edits that remove the member at an index; there are others. */
export function removeFlow(
  source: YamlSource,
  { entries, open, close }: FlowPlace,
  index: number,
): TextEdit[] {
  const entry = entries[index]!
  const before = entries[index - 1]
  const comma = commaAfter(source, entry.end)
  const end = comma === null ? entry.end : comma + 1
  const rest = source.text.slice(end, source.lineEnd(end))
  const isInLines =
    source.isFirstInLine(entry.start) && source.lineStart(entry.start) > open && /^\s*(?:#.*)?$/.test(rest)
  const isLast = before !== undefined && index === entries.length - 1
  if (isInLines) {
    const lines = { start: source.lineStart(entry.start), end: source.nextLine(end), text: '' }
    if (!isLast || comma !== null || source.nextLine(end) > close) return [lines]
    return [...without(commaAfter(source, before.end)), lines]
  }
  if (!isLast) {
    const spaces = /^[ \t]*/.exec(source.text.slice(end))?.[0].length ?? 0
    return [{ start: entry.start, end: end + spaces, text: '' }]
  }
  const between = source.text.slice(before.end, entry.start)
  if (!/[\n#]/.test(between)) return [{ start: before.end, end: entry.end, text: '' }]
  return [
    ...without(comma ?? commaAfter(source, before.end)),
    { start: entry.start, end: entry.end, text: '' },
  ]
}

function without(comma: number | null): TextEdit[] {
  return comma === null ? [] : [{ start: comma, end: comma + 1, text: '' }]
}

/** Returns the index of the comma after a member, beyond spaces and comments; null for none. */
function commaAfter({ text }: YamlSource, end: number): number | null {
  const [skipped = ''] = /^(?:\s+(?:#[^\n]*)?)*/.exec(text.slice(end)) ?? []
  return text[end + skipped.length] === ',' ? end + skipped.length : null
}

function at(offset: number, text: string): TextEdit {
  return { start: offset, end: offset, text }
}
