import { showNames, showValue } from '../contract/show-value.ts'
import { ValidationError } from '../errors/service-error.ts'
import type { ColumnSketch } from './infer-column.ts'
import type { FileProfile } from './infer-profile.ts'

/** The column whose values become the ids; `guessed` when nobody said so. */
export interface ChosenKey {
  readonly column: ColumnSketch
  readonly guessed: boolean
}

/**
 * The column that tells the records apart: the one asked for; or one called `id`; or the first that reads like a key,
 * with a short text or an integer in each record, all different. Null when there is none, and ids have to be made up.
 * Throws ValidationError where the one asked for does not do.
 */
export function chooseKey(profile: FileProfile, asked: string | null): ChosenKey | null {
  const { columns } = profile
  if (asked !== null) return { column: askedKey(profile, asked), guessed: false }
  const called = columns.filter(({ name }) => name.trim().toLowerCase() === 'id')
  const id = (called.find(({ name }) => name === 'id') ?? called[0]) || null
  if (id !== null && whyNoKey(id, profile) === null) return { column: id, guessed: false }
  const like = columns.find(
    (column) => column.readsLikeKey && column.plain && whyNoKey(column, profile) === null,
  )
  return like === undefined ? null : { column: like, guessed: true }
}

/** Why a column's values cannot be the ids of the records, null when they can. */
export function whyNoKey(
  { count, keyFault, differs }: ColumnSketch,
  { records, file }: FileProfile,
): string | null {
  if (keyFault !== null)
    return `in ${file.unit} ${keyFault.at}, ${faultText(keyFault.value, keyFault.reason)}`
  if (count < records) return `${records - count} of ${records} records have no value`
  return differs === null ? 'there are too many values to tell whether all differ' : null
}

function askedKey(profile: FileProfile, asked: string): ColumnSketch {
  const file = profile.file.source.name
  const column = profile.columns.find(({ name }) => name === asked)
  if (column === undefined) {
    const known = showNames(profile.columns.map(({ name }) => name))
    throw new ValidationError(`${file} has no column ${showValue(asked)} for the key; it has ${known}`)
  }
  const why = whyNoKey(column, profile)
  // More values than can be kept are left to the import, which looks at each.
  if (why === null || (column.differs === null && column.count === profile.records)) return column
  throw new ValidationError(
    `${file}: ${showValue(asked)} cannot be the key: ${why}; choose another column, or none to have ids made up`,
  )
}

/** Reasons of the contract show the value themselves. */
function faultText(value: unknown, reason: string): string {
  return reason.startsWith('is ') ? `${showValue(value)} ${reason}` : reason
}
