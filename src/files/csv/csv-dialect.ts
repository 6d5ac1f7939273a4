/** How the cells of a CSV file are told apart. */
export interface CsvDialect {
  readonly delimiter: string
  /** Where the header starts, after a line `sep=…` if there is one. */
  readonly start: number
}

const DELIMITERS = [',', ';', '\t', '|']

/** Finds out the delimiter of a file from its start: that of a first line `sep=;`, or the one that the header has most of. */
export function detectDialect(start: string): CsvDialect {
  const stated = /^sep=([^\r\n"])(?:\r\n|\r|\n)/i.exec(start)
  if (stated !== null) return { delimiter: stated[1] ?? ',', start: stated[0].length }
  const counts = countDelimiters(start)
  const most = Math.max(...counts)
  // The first of equals; a header of one column has none.
  return { delimiter: DELIMITERS[counts.indexOf(most)] ?? ',', start: 0 }
}

/** How often each delimiter is in the first line that is not empty, outside of quotes. */
function countDelimiters(text: string): number[] {
  const counts = DELIMITERS.map(() => 0)
  let quoted = false
  let seen = false
  for (const char of text) {
    if (char === '"') quoted = !quoted
    if (!quoted && (char === '\n' || char === '\r')) {
      if (seen) break
      continue
    }
    seen = true
    const index = quoted ? -1 : DELIMITERS.indexOf(char)
    if (index !== -1) counts[index] = (counts[index] ?? 0) + 1
  }
  return counts
}
