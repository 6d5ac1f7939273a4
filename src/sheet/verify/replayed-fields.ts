import type { LogicalType } from '../../contract/contract.ts'
import type { StoredFieldChange } from '../../store/fields/stored-changes.ts'

/**
 * The values of a field from its creation, or from a conversion, on: whatever its names were. A field that is removed and
 * restored continues its column; one that is converted begins another.
 */
export interface ReplayedColumn {
  /** The key of its values in a {@link ReplayedRecord}: no other column has it. */
  readonly key: string
  /** The seq of the line since which a field of this name can have values: 0 from the beginning. */
  readonly since: number
  /** The conversion that made the first values; null for none. */
  readonly conversion: ColumnConversion | null
}

/** A column that began with a conversion. */
export interface ConvertedColumn extends ReplayedColumn {
  readonly conversion: ColumnConversion
}

export interface ColumnConversion {
  readonly seq: number
  readonly from: ReplayedColumn
  readonly before: LogicalType
  readonly type: LogicalType
  /** The columns from which values of the new type can have been brought back. */
  readonly earlier: readonly ReplayedColumn[]
  /** The values that were lost since they did not fit; null in a log of an earlier version, which does not say it. */
  readonly lost: number | null
}

/** The members of the line of a conversion beside the types. */
export interface LoggedConversion {
  readonly lost: number | null
  /** The seq of the conversion that it takes back; null for none. */
  readonly reverts: number | null
}

/** The fields of a sheet while its log is replayed: the names that they have at a line, and the columns of their values. */
export class ReplayedFields {
  /** Columns by present names; a name that is absent, and was not given up, is its own column. */
  readonly #present = new Map<string, ReplayedColumn>()
  /** Present names by the keys of columns, of those above. */
  readonly #names = new Map<string, string>()
  /** The last line by which a name was given up. */
  readonly #left = new Map<string, number>()
  readonly #removed = new Map<string, ReplayedColumn>()
  /** The columns that began with a conversion, in the order of the lines. */
  readonly conversions: ConvertedColumn[] = []
  readonly #kept: { readonly seq: number; readonly column: ReplayedColumn; readonly type: LogicalType }[] = []

  /** Whether no line has changed a field so far: then names are keys, and no value was converted. */
  get areUnchanged(): boolean {
    return this.#left.size === 0
  }

  /** Returns the column of a field by its present name. */
  of(name: string): ReplayedColumn {
    const known = this.#present.get(name)
    if (known !== undefined) return known
    const since = this.#left.get(name) ?? 0
    const column = { key: since === 0 ? name : `${name}$${since}`, since, conversion: null }
    this.#set(name, column)
    return column
  }

  /** Returns the present name of the column with a key; null while its field is removed, or after a conversion. */
  nameOf(key: string): string | null {
    return this.#names.get(key) ?? null
  }

  /** Returns the columns of the present fields that began with a conversion. */
  converted(): ReplayedColumn[] {
    return [...this.#present.values()].filter(({ conversion }) => conversion !== null)
  }

  /** Returns the column whose values the conversions since have made those of a column. */
  firstOf(column: ReplayedColumn): ReplayedColumn {
    let first = column
    while (first.conversion !== null) first = first.conversion.from
    return first
  }

  /** Applies a line that changes fields; `more` returns what it says of a conversion, by the new name. Returns what is wrong with it; null for nothing. */
  apply(change: StoredFieldChange, more: (name: string) => LoggedConversion): string | null {
    const { seq, renamed, removed, converted, restored } = change
    const namesBefore = new Map(renamed.map(([from, to]) => [to, from]))
    const moves = [
      ...renamed.map(([from, to]) => ({ from, to })),
      ...converted.flatMap(({ name }) => (namesBefore.has(name) ? [] : [{ from: name, to: name }])),
    ].map((move) => ({ ...move, column: this.of(move.from) }))
    const gone = removed.map(({ name }) => ({ name, column: this.of(name) }))
    for (const name of [...moves.map(({ from }) => from), ...gone.map((field) => field.name)])
      this.#giveUp(name, seq)
    for (const { name, column } of gone) this.#removed.set(`${seq} ${name}`, column)
    for (const { to, column } of moves) {
      const conversion = converted.find(({ name }) => name === to)
      if (conversion === undefined) {
        this.#set(to, column)
        continue
      }
      const { from: before, to: type } = conversion
      const { lost, reverts } = more(to)
      // A line of an earlier version does not say which conversion it takes back.
      const earlier = this.#kept
        .filter((kept) => kept.type === type && (lost === null || kept.seq === reverts))
        .map((kept) => kept.column)
      this.#kept.push({ seq, column, type: before })
      const made = { seq, from: column, before, type, earlier, lost }
      const begun = { key: `${to}$${seq}`, since: seq, conversion: made }
      this.conversions.push(begun)
      this.#set(to, begun)
    }
    for (const { name, change: removal } of restored) {
      const column = this.#removed.get(`${removal} ${name}`)
      if (column === undefined) return `restores the field "${name}", and line ${removal} did not remove it`
      this.#set(name, column)
    }
    return null
  }

  #set(name: string, column: ReplayedColumn): void {
    this.#present.set(name, column)
    this.#names.set(column.key, name)
  }

  #giveUp(name: string, seq: number): void {
    const column = this.#present.get(name)
    if (column !== undefined) this.#names.delete(column.key)
    this.#present.delete(name)
    this.#left.set(name, seq)
  }
}
