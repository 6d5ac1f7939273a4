import type { LogicalType } from '../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
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
  /** The column that had the values while the field was removed after it; null where it was not. */
  readonly removedAs: string | null
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
  /** Removed fields by the line of their removal and their name then. */
  readonly #removed = new Map<string, Life>()
  /** The last line by which a field gave up a name. */
  readonly #left = new Map<string, number>()
  constructor(changes: readonly StoredFieldChange[]) {
    for (const change of changes) this.#apply(change)
  }

  /** Returns the spans of a present field, oldest first; the last is open. */
  of(name: string): readonly FieldSpan[] {
    return this.#present.get(name)?.spans ?? [this.#opened(name, this.#left.get(name) ?? 0)]
  }

  /** Returns the present names of fields by those that they had before: of several fields, the last that had a name. */
  former(): ReadonlyMap<string, string> {
    const found = [...this.#present].flatMap(([present, { spans }]) =>
      spans.map(({ name, from }) => ({ name, from, present })),
    )
    return new Map(found.toSorted((a, b) => a.from - b.from).map(({ name, present }) => [name, present]))
  }

  /** Returns the present name of the field that had a name right after a line of the log; null where it is removed. */
  presentOf(name: string, seq: number): string | null {
    for (const [present, { spans }] of this.#present) if (spanAt(spans, seq)?.name === name) return present
    return !this.#present.has(name) && (this.#left.get(name) ?? 0) <= seq ? name : null
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
    for (const { life, name, column, type } of gone) {
      for (const span of life.current) Object.assign(span, { column, type })
      const last = life.spans.at(-1)
      if (last !== undefined) last.removedAs = column
      this.#removed.set(`${seq} ${name}`, life)
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
    for (const { name, change } of restored) {
      const life = this.#removed.get(`${change} ${name}`) ?? this.#born()
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
    return { spans: [], current: [] }
  }

  #open(life: Life, name: string, from: number): void {
    const span = this.#opened(name, from)
    life.spans.push(span)
    life.current.push(span)
    this.#present.set(name, life)
  }

  #opened(name: string, from: number): Writable<FieldSpan> {
    return { name, from, to: Infinity, column: name, type: null, converted: false, removedAs: null }
  }
}

/** Returns the span at a line of the log; undefined where the field was absent. */
export function spanAt(spans: readonly FieldSpan[], seq: number): FieldSpan | undefined {
  return spans.findLast(({ from, to }) => from <= seq && seq < to)
}

/** Returns the spans of a present field, oldest first; the last is open. */
export function spansOf(changes: readonly StoredFieldChange[], name: string): readonly FieldSpan[] {
  return new FieldLineages(changes).of(name)
}

/**
 * Returns a reference to an entry of the log with the present name of its field. That of a removed field has a name that no
 * field can have, since another may have its own by now.
 */
export function presentRef<T extends { readonly seq: number; readonly field: string }>(
  lineages: FieldLineages,
  ref: T,
): T {
  const { seq, field } = ref
  return { ...ref, field: lineages.presentOf(field, seq) ?? `${field} (removed)` }
}

/** Returns a line of the log with the present names of fields, without the values of removed ones. */
export function presentLine(lineages: FieldLineages, line: JsonObject): JsonObject {
  const { field, values, previous } = line
  const seq = Number(line['seq'])
  if (typeof field === 'string') return presentRef(lineages, { ...line, seq, field })
  const renamed = (object: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(object).flatMap(([name, value]): [string, JsonValue][] => {
        const present = lineages.presentOf(name, seq)
        return present === null ? [] : [[present, value ?? null]]
      }),
    )
  return {
    ...line,
    ...(isJsonObject(values) && { values: renamed(values) }),
    ...(isJsonObject(previous) && { previous: renamed(previous) }),
  }
}
