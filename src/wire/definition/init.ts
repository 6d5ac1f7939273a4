import type { InitReport } from '../../sheet/lifecycle/init-sheet.ts'

/** A field in the output of `colophon init`. */
export interface InitFieldWire {
  readonly field: string
  /** The column that its values come from; null for generated ids. */
  readonly column: string | null
  readonly type: string
  readonly required: boolean
  readonly unique: boolean
  readonly valid_values: readonly string[] | null
  /** Records that have a value; null when not counted. */
  readonly values: number | null
  readonly doubts: readonly string[]
}

/** The output of `colophon init`. */
export interface InitWire {
  readonly sheet: string
  readonly records: number
  readonly fields: readonly InitFieldWire[] | null
  readonly notes: readonly string[]
}

/** Converts the report of a new sheet to the wire format; `sheet` is the directory as it was given. */
export function toInitWire(sheet: string, { records, fields, notes }: InitReport): InitWire {
  return {
    sheet,
    records,
    fields: fields?.map(({ validValues, ...field }) => ({ ...field, valid_values: validValues })) ?? null,
    notes,
  }
}
