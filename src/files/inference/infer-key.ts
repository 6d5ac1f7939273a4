import { showNames, showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { ColumnSketch } from './infer-column.ts'
import type { FileProfile } from './infer-profile.ts'

/** The requested key: the name of a column, false for numbers, null to choose one. */
export type AskedKey = string | false | null

/** The column whose values become the ids; `guess` is the reason if it was not requested by name. */
export interface ChosenKey {
  readonly column: ColumnSketch
  readonly guess: string | null
}

/**
 * Chooses the key column: the requested one; a column called `id`; the first that looks like a key and has a
 * different short text or integer in each record; or the most likely with a different value in each record. Null if
 * there is none, so that ids are generated. Throws ValidationError if the requested column is not suitable.
 */
export function chooseKey(profile: FileProfile, asked: AskedKey): ChosenKey | null {
  const { columns } = profile
  if (asked === false) return null
  if (asked !== null) return { column: askedKey(profile, asked), guess: null }
  const called = columns.filter(({ name }) => name.trim().toLowerCase() === 'id')
  const id = (called.find(({ name }) => name === 'id') ?? called[0]) || null
  if (id !== null && whyNoKey(id, profile) === null) return { column: id, guess: null }
  const like = columns.find(
    (column) => column.looksLikeKey && column.plain && whyNoKey(column, profile) === null,
  )
  if (like !== undefined) {
    return { column: like, guess: `used as the key, since ${JSON.stringify(like.name)} looks like one` }
  }
  const distinct = likeliest(profile)
  return distinct === null
    ? null
    : { column: distinct, guess: 'used as the key, since it has a different value in each record' }
}

function likeliest(profile: FileProfile): ColumnSketch | null {
  if (profile.records === 0) return null
  let first: { readonly column: ColumnSketch; readonly rank: number } | null = null
  for (const column of profile.columns) {
    const rank = whyNoKey(column, profile) === null ? rankOf(column) : null
    if (rank !== null && (first === null || rank < first.rank)) first = { column, rank }
  }
  return first?.column ?? null
}

/**
 * Ranks a column as a key: names before values that may differ by chance. Null for long prose, for measurements, and
 * for a column with a text such as `NA`.
 */
function rankOf({ kinds, short, solid, notation, lossy }: ColumnSketch): number | null {
  if (notation.missing !== null) return null
  if (notation.otherText !== null) return short ? (solid ? 0 : 1) : solid ? 4 : null
  if (notation.grouped !== null || notation.infinite !== null) return null
  if (lossy !== null) return /^-?[0-9]+$/.test(JSON.stringify(lossy.value)) ? 3 : null
  return kinds.has('integer') ? 3 : 2
}

/** Returns the reason why a column's values cannot be ids, null if they can. */
export function whyNoKey(
  { count, keyError, differs }: ColumnSketch,
  { records, file }: FileProfile,
): string | null {
  if (keyError !== null)
    return `in ${file.unit} ${keyError.at}, ${errorText(keyError.value, keyError.reason)}`
  if (count < records) return `${records - count} of ${records} records have no value`
  return differs === null ? 'there are too many values to tell whether all differ' : null
}

function askedKey(profile: FileProfile, asked: string): ColumnSketch {
  const file = profile.file.source.name
  const column = profile.columns.find(({ name }) => name === asked)
  if (column === undefined) {
    const known = showNames(profile.columns.map(({ name }) => name))
    throw new ValidationError(
      `${file} has no column ${showValue(asked)} for the key; it has ${known}`,
      'key_required',
    )
  }
  const why = whyNoKey(column, profile)
  // The import checks columns with too many values to store.
  if (why === null || (column.differs === null && column.count === profile.records)) return column
  throw new ValidationError(
    `${file}: ${showValue(asked)} cannot be the key: ${why}; choose another column, or none to generate ids`,
    'key_required',
  )
}

/** Returns the message of the contract, which shows the value itself. */
function errorText(value: unknown, reason: string): string {
  return reason.startsWith('is ') ? `${showValue(value)} ${reason}` : reason
}
