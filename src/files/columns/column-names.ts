import { showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { MAX_COLUMNS } from '../io/file-limits.ts'

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
  const free = new FreeNames(texts)
  const first = new Map<string, number>()
  const guesses: string[] = []
  const names = texts.map((text, index) => {
    if (text === '') {
      if (!hasValues(index)) return undefined
      const name = free.take(index === 0 ? 'index' : `column_${index + 1}`)
      guesses.push(`column ${index + 1} has no name: it is called ${showValue(name)}`)
      return name
    }
    const earlier = first.get(text)
    if (earlier === undefined) {
      first.set(text, index)
      return text
    }
    const name = free.take(text)
    const columns = `columns ${earlier + 1} and ${index + 1}`
    guesses.push(`${columns} are both called ${showValue(text)}: the second is called ${showValue(name)}`)
    return name
  })
  return { names, guesses: shortened(guesses) }
}

/** More guesses than these help nobody. */
const MAX_GUESSES = 10

function shortened(guesses: readonly string[]): readonly string[] {
  if (guesses.length <= MAX_GUESSES) return guesses
  const more = guesses.length - MAX_GUESSES
  return [...guesses.slice(0, MAX_GUESSES), `${more} more columns got names in the same way`]
}

/** Gives out names that no column has. */
class FreeNames {
  readonly #used: Set<string>
  /** The numbers to go on with, by name. */
  readonly #next = new Map<string, number>()

  constructor(used: readonly string[]) {
    this.#used = new Set(used)
  }

  /** The name itself, or with the first number that is free. */
  take(name: string): string {
    let free = name
    let number = this.#next.get(name) ?? 2
    for (; this.#used.has(free); number += 1) free = `${name}_${number}`
    this.#next.set(name, number)
    this.#used.add(free)
    return free
  }
}

/** Names the columns of a table that has no header. */
export function numberColumns(count: number, place: string): readonly string[] {
  checkCount(count, place)
  return Array.from({ length: count }, (_, index) => `column_${index + 1}`)
}

function checkCount(count: number, place: string): void {
  if (count <= MAX_COLUMNS) return
  throw new ValidationError(`${place}: the header has more than ${MAX_COLUMNS} columns`, 'unreadable_file')
}
