import type { LogicalType } from '../../contract/contract.ts'
import type { StoredFieldChange } from './stored-changes.ts'

/**
 * A time in the life of a field in which it had one name and one type: from the line `from` of the log, exclusive, up to
 * the line `to`, exclusive. Between two spans the field was absent.
 */
export interface FieldSpan {
  readonly name: string
  readonly from: number
  readonly to: number
  /** The column that has its values, where they have not changed since: null where they are known from the log only. */
  readonly column: string | null
  /** The type of these values; null for the present type. */
  readonly type: LogicalType | null
  /** Whether it ended with a conversion of the values. */
  readonly converted: boolean
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

interface Life {
  readonly spans: Writable<FieldSpan>[]
  /** The spans since the last conversion, whose values one column has. */
  current: Writable<FieldSpan>[]
}

/** The names and types that fields have had, from the changes of fields in the log. */
export class FieldLineages {
  readonly #present = new Map<string, Life>()
  readonly #kept = new Map<string, Life>()
  readonly #all: Life[] = []
  /** The last line by which a field gave up a name. */
  readonly #left = new Map<string, number>()
  readonly #last: number

  constructor(changes: readonly StoredFieldChange[]) {
    for (const change of changes) this.#apply(change)
    this.#last = changes.at(-1)?.seq ?? 0
  }

  /** The seq of the last change; 0 for none. */
  get last(): number {
    return this.#last
  }

  /** Returns the spans of a present field, oldest first; the last is open. */
  of(name: string): readonly FieldSpan[] {
    return this.#present.get(name)?.spans ?? [this.#opened(name, this.#left.get(name) ?? 0)]
  }

  /**
   * Returns the present name of the field that had a name last; null where no field had it, or the field is removed. A
   * present field may have the name by now.
   */
  renamedTo(name: string): string | null {
    const latest = this.#latest(name)
    return [...this.#present].find(([, life]) => life === latest)?.[0] ?? null
  }

  #latest(name: string): Life | undefined {
    const fromOf = ({ spans }: Life): number => spans.findLast((span) => span.name === name)?.from ?? -1
    const [latest] = this.#all.toSorted((a, b) => fromOf(b) - fromOf(a))
    return latest !== undefined && fromOf(latest) >= 0 ? latest : undefined
  }

  #apply({ seq, renamed, removed, converted, restored }: StoredFieldChange): void {
    const before = new Map(renamed.map(([from, to]) => [to, from]))
    const moves = [
      ...renamed.map(([from, to]) => ({ from, to })),
      ...converted.flatMap(({ name }) => (before.has(name) ? [] : [{ from: name, to: name }])),
    ].map((move) => ({ ...move, life: this.#taken(move.from) }))
    const gone = removed.map((field) => ({ ...field, life: this.#taken(field.name) }))
    for (const { from, life } of [
      ...moves,
      ...gone.map(({ name, life: of }) => ({ from: name, life: of })),
    ]) {
      const last = life.spans.at(-1)
      if (last !== undefined) last.to = seq
      this.#present.delete(from)
      this.#left.set(from, seq)
    }
    for (const { life, column, type } of gone) {
      for (const span of life.current) Object.assign(span, { column, type })
      if (column !== null) this.#kept.set(column, life)
    }
    for (const { to, life } of moves) {
      const conversion = converted.find(({ name }) => name === to)
      if (conversion !== undefined) {
        const { column, from: type } = conversion
        for (const span of life.current) Object.assign(span, { column, type })
        const last = life.spans.at(-1)
        if (last !== undefined) last.converted = true
        life.current = []
      }
      this.#open(life, to, seq)
    }
    for (const { name, column } of restored) {
      const life = (column === null ? undefined : this.#kept.get(column)) ?? this.#born()
      for (const span of life.current) Object.assign(span, { column: name, type: null })
      this.#open(life, name, seq)
    }
    // The column of a present field has its present name.
    for (const [name, life] of this.#present) for (const span of life.current) span.column = name
  }

  /** Returns the field that has a name. */
  #taken(name: string): Life {
    const known = this.#present.get(name)
    if (known !== undefined) return known
    const life = this.#born()
    this.#open(life, name, this.#left.get(name) ?? 0)
    return life
  }

  #born(): Life {
    const life: Life = { spans: [], current: [] }
    this.#all.push(life)
    return life
  }

  #open(life: Life, name: string, from: number): void {
    const span = this.#opened(name, from)
    life.spans.push(span)
    life.current.push(span)
    this.#present.set(name, life)
  }

  #opened(name: string, from: number): Writable<FieldSpan> {
    return { name, from, to: Infinity, column: name, type: null, converted: false }
  }
}

/** Returns the span at a line of the log; undefined where the field was absent. */
export function spanAt(spans: readonly FieldSpan[], seq: number): FieldSpan | undefined {
  return spans.findLast(({ from, to }) => from <= seq && seq < to)
}
