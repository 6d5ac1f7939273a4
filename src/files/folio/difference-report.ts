import { showValue } from '../../contract/json/show-value.ts'

/**
 * The effect of a difference: `adapted` is expressed in another way, `kept` is as it was or has another meaning, `cannot` is not part of the new
 * sheet and is in a file beside it, or nowhere if the message says so.
 */
export type DifferenceAction = 'adapted' | 'kept' | 'cannot'

/** A difference between a sheet of folio and the sheet made from it. */
export interface Difference {
  readonly action: DifferenceAction
  /** The file of the source, relative to its directory; null for the sheet as a whole. */
  readonly file: string | null
  /** The first line, from 1; null if there is no single one. */
  readonly line: number | null
  /** A sentence without a full stop. */
  readonly message: string
}

/** The place of a difference. */
export interface Place {
  readonly file: string
  readonly line?: number | null
}

/** A difference that many lines can have, reported once. */
export interface Repeated {
  readonly action: DifferenceAction
  readonly file: string
  /** Begins the message; differences with the same text are counted together. */
  readonly what: string
}

interface Count {
  readonly of: Repeated
  readonly lines: number[]
  readonly example: string
  count: number
}

/** The lines that a message lists. */
const SHOWN_LINES = 5

const ORDER: readonly DifferenceAction[] = ['cannot', 'adapted', 'kept']

/** Collects differences; those of many lines are counted. */
export class DifferenceReport {
  readonly #single: Difference[] = []
  readonly #counts = new Map<string, Count>()

  add(action: DifferenceAction, place: Place | null, message: string): void {
    this.#single.push({ action, file: place?.file ?? null, line: place?.line ?? null, message })
  }

  /** Counts a difference of a line; the message has the first value and the first lines. */
  count(of: Repeated, line: number, value?: unknown): void {
    const key = JSON.stringify([of.action, of.file, of.what])
    const known = this.#counts.get(key)
    if (known === undefined) {
      const example = value === undefined ? '' : `, such as ${showValue(value)}`
      this.#counts.set(key, { of, lines: [line], example, count: 1 })
      return
    }
    known.count += 1
    if (known.lines.length < SHOWN_LINES && known.lines.at(-1) !== line) known.lines.push(line)
  }

  /** Returns all differences: what cannot be adopted first, then by file and line. */
  list(): readonly Difference[] {
    const counted = Array.from(this.#counts.values(), countedDifference)
    return [...this.#single, ...counted].toSorted(
      (a, b) =>
        ORDER.indexOf(a.action) - ORDER.indexOf(b.action) ||
        compare(a.file ?? '', b.file ?? '') ||
        (a.line ?? 0) - (b.line ?? 0),
    )
  }
}

function countedDifference({ of: { action, file, what }, lines, example, count }: Count): Difference {
  const more = count - lines.length
  const places = count === 1 ? '' : ` (lines ${lines.join(', ')}${more > 0 ? ` and ${more} more` : ''})`
  return { action, file, line: lines[0] ?? null, message: `${what}${example}${places}` }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
