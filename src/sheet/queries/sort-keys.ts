import type { Contract } from '../../contract/contract.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { SortKey } from '../../store/sheet-store.ts'
import { unknownFields } from './select-fields.ts'

/** The most fields to sort by, since a cursor contains a value of each. */
const MAX_KEYS = 8

/** Parses sort fields, such as `-area` and `name`: a minus means descending. Throws ValidationError. */
export function sortKeys(contract: Contract, asked: readonly string[] | null): readonly SortKey[] {
  const keys = (asked ?? []).map((item) => {
    const descending = item.startsWith('-')
    return { field: descending ? item.slice(1).trim() : item, descending }
  })
  const names = keys.map(({ field }) => field)
  const unknown = names.filter((name) => !contract.fieldByName.has(name))
  if (unknown.length > 0) throw unknownFields(contract, unknown)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined)
    throw new ValidationError(`sort names the field ${twice} twice; keep one`, 'invalid_sort')
  if (keys.length > MAX_KEYS)
    throw new ValidationError(
      `sort names ${keys.length} fields; at most ${MAX_KEYS} are possible`,
      'invalid_sort',
    )
  for (const name of names) {
    const type = contract.fieldByName.get(name)?.type
    if (type === 'array' || type === 'object') {
      throw new ValidationError(
        `the field ${name} is of type ${type}, which has no order to sort by`,
        'invalid_sort',
      )
    }
  }
  return keys
}
