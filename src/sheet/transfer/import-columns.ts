import type { Contract } from '../../contract/contract.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import { idSourceOf } from '../../contract/odcs/id-source.ts'
import {
  originalNames,
  unknownColumnMessage,
  unknownFieldMessage,
} from '../../contract/odcs/original-names.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { ColumnMatcher } from '../../files/columns/match-columns.ts'
import { columnsAsFields } from '../../files/columns/rename-columns.ts'
import { withoutColumns } from '../../files/columns/without-columns.ts'
import { idMaker, withMadeIds } from '../../files/inference/generated-ids.ts'
import type { AskedKey } from '../../files/inference/infer-key.ts'
import type { RawRecords } from '../../files/io/raw-records.ts'

/** The fields of columns by their names; null leaves a column out. Columns that are absent follow their names. */
export type ColumnMap = ReadonlyMap<string, string | null>

interface ColumnsToRead {
  readonly contract: Contract
  readonly key: AskedKey
  readonly columns: ColumnMap
}

/**
 * Returns the records with columns renamed to fields, and with the ids that the contract generates. Throws ValidationError
 * for columns and fields that do not exist.
 */
export function withFields(file: RawRecords, { contract, key, columns }: ColumnsToRead): RawRecords {
  const source = idSourceOf(contract)
  const numbered = source?.kind === 'rowNumber'
  if (key === false && !numbered) {
    throw new ValidationError(
      'the ids of this sheet are not the numbers of records (its contract has no idFrom: rowNumber); leave out --no-key',
      'key_required',
    )
  }
  if (typeof key === 'string' && file.fields?.includes(key) === false) {
    throw new ValidationError(
      `${file.source.name} has no column ${showValue(key)} for the key; it has ${showNames(file.fields)}`,
      'key_required',
    )
  }
  checkMap(file, contract, columns)
  const left = withoutColumns(file, new Set([...columns.keys()].filter((name) => columns.get(name) === null)))
  const matcher = new ColumnMatcher(contract, {
    key: key === false ? null : key,
    given: new Map([...columns].filter((entry): entry is [string, string] => entry[1] !== null)),
    withoutId: key === false,
    preferOwn: false,
    idAdvice: `if it has the ids, use --key id${numbered ? ', else --no-key' : ''}`,
  })
  const named = columnsAsFields(left, matcher)
  if (source === null || (numbered && key !== false)) return named
  return withMadeIds(named, idMaker(source))
}

function checkMap({ fields, source }: RawRecords, contract: Contract, columns: ColumnMap): void {
  for (const [column, field] of columns) {
    if (fields?.includes(column) === false) {
      throw new ValidationError(
        `${source.name} has no column ${showValue(column)}; it has ${showNames(fields)}`,
        'unknown_column',
      )
    }
    if (field === null || contract.fieldByName.has(field)) continue
    throw new ValidationError(
      `column ${showValue(column)}, field ${showValue(field)}: ${unknownFieldMessage(contract, field)}`,
      'unknown_field',
    )
  }
}

/** Throws ValidationError for columns that the contract lacks, and when there are no ids. */
export function checkHeader({ fields, source }: RawRecords, contract: Contract): void {
  if (fields === null) return
  for (const name of fields) {
    if (contract.fieldByName.has(name)) continue
    throw new ValidationError(
      `${source.name}, column ${showValue(name)}: ${unknownColumnMessage(contract, name)}`,
      'unknown_column',
    )
  }
  if (fields.includes('id')) return
  if (idSourceOf(contract)?.kind === 'rowNumber') {
    throw new ValidationError(
      `${source.name} has no column id, and the ids of this sheet are the numbers of the records in the file that it was ` +
        'made of; use --no-key to number these records in the same way, or --key to name a column that has the ids',
      'key_required',
    )
  }
  const others = (originalNames(contract).get('id') ?? []).map((name) => `, nor ${showValue(name)}`).join('')
  throw new ValidationError(
    `${source.name} has no column id${others === '' ? '' : `${others},`} that identifies records; name another column with --key`,
    'key_required',
  )
}
