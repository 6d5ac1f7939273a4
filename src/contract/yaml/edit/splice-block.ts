import type { Entry, YamlSource } from './yaml-source.ts'
import type { TextEdit } from './yaml-edit.ts'

/** The most columns of an indentation that has a meaning; deeper nesting is refused. */
const MAX_INDENT = 1000

/** The lines of an entry, with the comments that belong to it. */
interface Region {
  readonly start: number
  readonly end: number
}

/** Whether entries are separated by empty lines; false for one entry. */
export function isSpaced(source: YamlSource, entries: readonly Entry[]): boolean {
  return (
    entries.length > 1 &&
    entries.every(
      (_, index) =>
        index === 0 || blankAbove(source, entries, index, commentsAbove(source, entries, index)) !== null,
    )
  )
}

/** Returns the edits that insert lines, of which the first has no indentation, before an entry or at the end. */
export function insertLines(
  source: YamlSource,
  entries: readonly Entry[],
  index: number,
  text: string,
): TextEdit[] {
  const { eol } = source
  const blank = isSpaced(source, entries) ? eol : ''
  const first = entries[0]!
  const indent = ' '.repeat(source.column(first.start))
  const before = entries[index - 1]
  if (before === undefined) {
    if (!source.isFirstInLine(first.start)) return [at(first.start, `${text}${eol}${blank}${indent}`)]
    const start = commentsAbove(source, entries, 0)
    return [at(start, `${indent}${text}${eol}${blank}`)]
  }
  const end = endWithComments(source, before)
  // An empty line would become part of a text that keeps its line breaks.
  if (end > 0 && source.text[end - 1] === '\n') return [at(end, `${indent}${text}${eol}`)]
  return [at(end, `${eol}${blank}${indent}${text}`)]
}

/** Returns the edits that remove an entry, in the order in which they are tried; there are others. */
export function removeLines(
  source: YamlSource,
  entries: readonly Entry[],
  index: number,
  isRoot: boolean,
): TextEdit[][] {
  const entry = entries[index]!
  const { text } = source
  if (!source.isFirstInLine(entry.start)) {
    const end = endWithComments(source, entry)
    const [space = ''] = /^\s*/.exec(text.slice(end)) ?? []
    return [[{ start: entry.start, end: end + space.length, text: '' }]]
  }
  const { start, end } = regionOf(source, entries, index, isRoot)
  const isAtEnd = end === text.length && !text.endsWith('\n')
  // Empty lines below can become part of a text above that keeps them.
  const blank = /^(?:[ \t]*\r?\n)*/.exec(text.slice(end))?.[0].length ?? 0
  if (!isAtEnd)
    return [[{ start, end, text: '' }], ...(blank > 0 ? [[{ start, end: end + blank, text: '' }]] : [])]
  const before = start - (text.slice(0, start).endsWith('\r\n') ? 2 : 1)
  return [[{ start: before, end, text: '' }], [{ start, end, text: '' }]]
}

/** Returns the edits that move an entry to another index, with its comments; null if they share lines with others. */
export function moveLines(
  source: YamlSource,
  entries: readonly Entry[],
  { from, to, isRoot }: { readonly from: number; readonly to: number; readonly isRoot: boolean },
): TextEdit[] | null {
  if (!entries.every(({ start }) => source.isFirstInLine(start))) return null
  const { start, end } = regionOf(source, entries, from, isRoot)
  const cut = source.text.slice(start, end)
  const blank = isSpaced(source, entries) ? source.eol : ''
  const lines =
    blank === '' ? cut : cut.slice(from > 0 ? blank.length : 0, from > 0 ? undefined : -blank.length)
  const remove = { start, end, text: '' }
  if (to === 0 && source.text[end - 1] === '\n')
    return [remove, at(commentsAbove(source, entries, 0), `${lines}${blank}`)]
  const before = entries[to < from ? to - 1 : to]
  if (before === undefined) return null
  const after = endWithComments(source, before)
  const place = source.text[after - 1] === '\n' ? after : source.nextLine(after)
  // The last line of a file may have no line break.
  const hasBreaks = source.text.endsWith('\n') || (end < source.text.length && place < source.text.length)
  return hasBreaks ? [remove, at(place, `${blank}${lines}`)] : null
}

function regionOf(source: YamlSource, entries: readonly Entry[], index: number, isRoot: boolean): Region {
  const entry = entries[index]!
  const isHead = isRoot && index === 0
  const top = isHead ? source.lineStart(entry.start) : commentsAbove(source, entries, index)
  const last = endWithComments(source, entry)
  const bottom = source.text[last - 1] === '\n' ? last : source.nextLine(last)
  if (!isSpaced(source, entries)) return { start: top, end: bottom }
  if (index > 0) return { start: blankAbove(source, entries, index, top) ?? top, end: bottom }
  const after = source.text.slice(bottom, source.nextLine(bottom))
  return { start: top, end: after.trim() === '' ? source.nextLine(bottom) : bottom }
}

/** Returns the start of the first line of the comments directly above an entry, or of its own line. */
function commentsAbove(source: YamlSource, entries: readonly Entry[], index: number): number {
  const { start } = entries[index]!
  const limit = entries[index - 1]?.end ?? 0
  let top = source.lineStart(start)
  while (top > limit) {
    const above = source.lineStart(top - 1)
    if (above < limit || commentColumn(source, above) !== source.column(start)) break
    top = above
  }
  return top
}

/** Returns the start of the empty line above a line; null for none. */
function blankAbove(
  source: YamlSource,
  entries: readonly Entry[],
  index: number,
  top: number,
): number | null {
  const limit = entries[index - 1]?.end ?? 0
  if (top <= limit) return null
  const above = source.lineStart(top - 1)
  return above >= limit && source.text.slice(above, top).trim() === '' ? above : null
}

/** Returns the end of the last line of an entry, without its line break, with the comments below it that are indented more. */
export function endWithComments(source: YamlSource, entry: Entry): number {
  const column = source.column(entry.start)
  let end = entry.end
  if (end > 0 && source.text[end - 1] === '\n') return end
  end = source.lineEnd(end)
  for (;;) {
    const next = source.nextLine(end)
    const indent = next > end && next < source.text.length ? commentColumn(source, next) : null
    if (indent === null || indent <= column) return end
    end = source.lineEnd(next)
  }
}

/** Returns the column of the comment that is alone on a line; null for another line. */
function commentColumn({ text }: YamlSource, lineStart: number): number | null {
  const indent = /^ */.exec(text.slice(lineStart, lineStart + MAX_INDENT))?.[0].length ?? 0
  return text[lineStart + indent] === '#' ? indent : null
}

function at(offset: number, text: string): TextEdit {
  return { start: offset, end: offset, text }
}
