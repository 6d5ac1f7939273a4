import type { Field } from '../../../contract/contract.ts'
import { NUMBERED_FIELDS } from '../../rows/written-values.ts'
import type { ChangeTables } from '../record-change.ts'
import { load, type Steps } from '../steps.ts'

/** The numbers of fields, by their names. */
export type FieldNumbers = ReadonlyMap<string, number>

/** The numbers of all fields of a contract, which are the same until it changes. */
export interface NumberedContract {
  readonly numbers: FieldNumbers
  /** Whether fields had none yet: they do not have one before the commit either. */
  readonly isChanged: boolean
}

/** Returns the numbers of the fields of a contract; adds those that are new. Call it in a transaction that writes. */
export function* numberFields(tables: ChangeTables, fields: readonly Field[]): Steps<NumberedContract> {
  const known = yield* load(tables.query(NUMBERED_FIELDS))
  const numbers = new Map(known.flatMap(({ field, number }) => (field === null ? [] : [[field, number]])))
  const added = fields.filter(({ name }) => !numbers.has(name))
  let next = (known.at(-1)?.number ?? -1) + 1
  for (const { name } of added) {
    const sql = 'INSERT INTO "$written_field" (number, field) VALUES (?1, ?2)'
    yield* load(tables.change({ sql, params: [next, name] }))
    numbers.set(name, next)
    next += 1
  }
  return { numbers, isChanged: added.length > 0 }
}
