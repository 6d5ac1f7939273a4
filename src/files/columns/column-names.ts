import { showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { MAX_COLUMNS } from '../io/file-limits.ts'

/** The names of a table's columns. */
export interface ColumnNames {
  /** The names by column; undefined for one without a name and, as far as sampled, without values. */
  readonly names: readonly (string | undefined)[]
  /** Generated names; each a sentence without a full stop. */
  readonly guesses: readonly string[]
}

/**
 * Names the columns of a table by the trimmed cells of its header. A repeated name gets a number. A first column
 * without a name is `index`, which programs leave unnamed; any other is named by its position. `hasValues` says which
 * columns have values.
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

/** The most guesses that are reported. */
const MAX_GUESSES = 10

function shortened(guesses: readonly string[]): readonly string[] {
  if (guesses.length <= MAX_GUESSES) return guesses
  const more = guesses.length - MAX_GUESSES
  return [...guesses.slice(0, MAX_GUESSES), `${more} more columns got names in the same way`]
}

/** Generates names that no column has. */
class FreeNames {
  readonly #used: Set<string>
  /** The next number for each name. */
  readonly #next = new Map<string, number>()

  constructor(used: readonly string[]) {
    this.#used = new Set(used)
  }

  /** Returns the name, or the name with the first free number. */
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
