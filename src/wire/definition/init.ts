import type { InitReport } from '../../sheet/lifecycle/init-sheet.ts'

/** What `colophon init` says of a field. */
export interface InitFieldWire {
  readonly field: string
  /** The column that its values come from; null for ids that were made up. */
  readonly column: string | null
  readonly type: string
  readonly required: boolean
  readonly unique: boolean
  readonly valid_values: readonly string[] | null
  /** Records that have a value; null when nobody counted. */
  readonly values: number | null
  readonly doubts: readonly string[]
}

/** What `colophon init` says of a new sheet. */
export interface InitWire {
  readonly sheet: string
  readonly records: number
  readonly fields: readonly InitFieldWire[] | null
  readonly notes: readonly string[]
}

/** The report of a new sheet on the wire; `sheet` is the directory as it was given. */
export function toInitWire(sheet: string, { records, fields, notes }: InitReport): InitWire {
  return {
    sheet,
    records,
    fields: fields?.map(({ validValues, ...field }) => ({ ...field, valid_values: validValues })) ?? null,
    notes,
  }
}
