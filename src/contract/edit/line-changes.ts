/** A changed line of a definition file. */
export interface LineChange {
  readonly file: string
  /** The number of the line, from 1: that of the text before, of an added line where it is added. */
  readonly line: number
  /** The line before and after, at most 200 characters of it; null where there is none. */
  readonly before: string | null
  readonly after: string | null
}

const MAX_SHOWN = 200

/**
 * Lists the lines by which two texts differ: between the first and the last line that differ, each line of one is compared with that of the
 * other. Takes time in proportion to the texts.
 */
export function lineChanges(file: string, before: string, after: string): readonly LineChange[] {
  const old = linesOf(before)
  const now = linesOf(after)
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let end = 0
  const rest = Math.min(old.length, now.length) - start
  while (end < rest && old.at(-1 - end) === now.at(-1 - end)) end += 1
  const changes: LineChange[] = []
  for (let index = start; index < Math.max(old.length, now.length) - end; index += 1) {
    const [from, to] = [
      index < old.length - end ? old[index] : null,
      index < now.length - end ? now[index] : null,
    ]
    if (from !== to) changes.push({ file, line: index + 1, before: shown(from), after: shown(to) })
  }
  return changes
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)
}

function shown(line: string | null | undefined): string | null {
  if (line === null || line === undefined) return null
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
}
