import type { FileColumnsAnswer } from '../../../src/wire/records/import.ts'
import type { FieldType } from '../api/contract.ts'

/** A column of a file. */
export type FileColumn = FileColumnsAnswer['columns'][number]

/** The target of the values of a column: a field, a new field, or nothing. */
export type ColumnChoice =
  | { readonly to: 'field'; readonly field: string }
  | { readonly to: 'new'; readonly name: string; readonly type: FieldType }
  | { readonly to: 'nothing' }

/** The choices for the columns of a file, by their names. */
export type ColumnChoices = ReadonlyMap<string, ColumnChoice>

/** Returns the choices that follow from the names of columns; others are left out. */
export function choicesOf(columns: readonly FileColumn[]): ColumnChoices {
  return new Map(
    columns.map(({ name, field }) => [name, field === null ? { to: 'nothing' } : { to: 'field', field }]),
  )
}

/** Returns the choice of a new field for a column. */
export function newFieldOf({ new_field: { name, type } }: FileColumn): ColumnChoice {
  return { to: 'new', name, type: type as FieldType }
}

/** Returns the mapping of the request; columns of new fields are left out until these exist. */
export function columnMapOf(choices: ColumnChoices): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    [...choices].map(([name, choice]) => [name, choice.to === 'field' ? choice.field : null]),
  )
}

/** Returns the new fields with the names of their columns. */
export function newFieldsOf(
  choices: ColumnChoices,
): readonly { readonly column: string; readonly name: string; readonly type: FieldType }[] {
  return [...choices].flatMap(([column, choice]) =>
    choice.to === 'new' ? [{ column, name: choice.name, type: choice.type }] : [],
  )
}

/** Returns the choices once a column's new field exists. */
export function withField(choices: ColumnChoices, column: string, field: string): ColumnChoices {
  return new Map(choices).set(column, { to: 'field', field })
}

/** Returns the reason why the choices cannot be imported; null for none. `keyTitle` is the title of the field with the ids. */
export function choiceFault(choices: ColumnChoices, { ids, keyTitle, titleOf }: ChoiceRules): string | null {
  const chosen = new Map<string, string>()
  for (const [column, choice] of choices) {
    if (choice.to !== 'field') continue
    const other = chosen.get(choice.field)
    if (other !== undefined)
      return `Both “${other}” and “${column}” are mapped to ${titleOf(choice.field)}. Choose another field for one of them.`
    chosen.set(choice.field, column)
  }
  if (chosen.has('id') || ids !== null) return null
  return `Choose the column that identifies the records: map it to ${keyTitle}.`
}

/** The facts by which choices are checked. */
export interface ChoiceRules {
  /** See `ids` of the columns of a file. */
  readonly ids: string | null
  readonly keyTitle: string
  readonly titleOf: (name: string) => string
}
