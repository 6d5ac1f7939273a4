import { showValue } from '../contract/show-value.ts'
import { ValidationError } from '../errors/service-error.ts'
import { MAX_COLUMNS } from './file-limits.ts'

/** The names of a table's columns. */
export interface ColumnNames {
  /** By column; undefined for one without a name and, as far as was seen, without values. */
  readonly names: readonly (string | undefined)[]
  /** The names that were made up; each a sentence without a full stop. */
  readonly guesses: readonly string[]
}

/**
 * Names the columns of a table by the cells of its header, without white space around them. The second of two columns of
 * one name gets a number; a first column without a name is `index`, since that is what programs leave it out of, any other
 * is called by its place. `hasValues` tells which columns have values.
 */
export function nameColumns(
  cells: readonly string[],
  hasValues: (column: number) => boolean,
  place: string,
): ColumnNames {
  checkCount(cells.length, place)
  const texts = cells.map((cell) => cell.trim())
  const used = new Set(texts.filter((text) => text !== ''))
  const first = new Map<string, number>()
  const guesses: string[] = []
  const names = texts.map((text, index) => {
    if (text === '' && !hasValues(index)) return undefined
    const wanted = text === '' ? (index === 0 ? 'index' : `column_${index + 1}`) : text
    const earlier = text === '' ? undefined : first.get(text)
    if (text !== '' && earlier === undefined) {
      first.set(text, index)
      return text
    }
    const name = firstFree(wanted, used)
    used.add(name)
    guesses.push(
      earlier === undefined
        ? `column ${index + 1} has no name: it is called ${showValue(name)}`
        : `columns ${earlier + 1} and ${index + 1} are both called ${showValue(text)}: the second is called ${showValue(name)}`,
    )
    return name
  })
  return { names, guesses }
}

/** Names the columns of a table that has no header. */
export function numberColumns(count: number, place: string): readonly string[] {
  checkCount(count, place)
  return Array.from({ length: count }, (_, index) => `column_${index + 1}`)
}

function checkCount(count: number, place: string): void {
  if (count <= MAX_COLUMNS) return
  throw new ValidationError(`${place}: the header has more than ${MAX_COLUMNS} columns`)
}

function firstFree(name: string, used: ReadonlySet<string>): string {
  if (!used.has(name)) return name
  for (let number = 2; ; number += 1) {
    const next = `${name}_${number}`
    if (!used.has(next)) return next
  }
}
