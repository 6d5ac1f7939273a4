import { showNames, showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { ColumnSketch } from './infer-column.ts'
import type { FileProfile } from './infer-profile.ts'

/** The key that somebody asks for: the name of a column, false for numbers, null to have one looked for. */
export type AskedKey = string | false | null

/** The column whose values become the ids; `guess` is the reason when nobody asked for it by name. */
export interface ChosenKey {
  readonly column: ColumnSketch
  readonly guess: string | null
}

/**
 * The column that tells the records apart: the one asked for; or one called `id`; or the first that reads like a key,
 * with a short text or an integer in each record, all different; or else the likeliest with a different value in each
 * record. Null when there is none, and ids have to be made up. Throws ValidationError where the one asked for does not do.
 */
export function chooseKey(profile: FileProfile, asked: AskedKey): ChosenKey | null {
  const { columns } = profile
  if (asked === false) return null
  if (asked !== null) return { column: askedKey(profile, asked), guess: null }
  const called = columns.filter(({ name }) => name.trim().toLowerCase() === 'id')
  const id = (called.find(({ name }) => name === 'id') ?? called[0]) || null
  if (id !== null && whyNoKey(id, profile) === null) return { column: id, guess: null }
  const like = columns.find(
    (column) => column.readsLikeKey && column.plain && whyNoKey(column, profile) === null,
  )
  if (like !== undefined) {
    return { column: like, guess: `taken for the key, since ${JSON.stringify(like.name)} reads like one` }
  }
  const distinct = likeliest(profile)
  return distinct === null
    ? null
    : { column: distinct, guess: 'taken for the key, since it has a different value in each record' }
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
 * The rank of a column that tells the records apart: names before what may differ by chance. Null for long prose, for
 * numbers that are measured, and for a column with a text such as `NA` in it, which names nothing.
 */
function rankOf({ kinds, short, solid, notation, lossy }: ColumnSketch): number | null {
  if (notation.missing !== null) return null
  if (notation.otherText !== null) return short ? (solid ? 0 : 1) : solid ? 4 : null
  if (notation.grouped !== null || notation.infinite !== null) return null
  if (lossy !== null) return /^-?[0-9]+$/.test(JSON.stringify(lossy.value)) ? 3 : null
  return kinds.has('integer') ? 3 : 2
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
    throw new ValidationError(
      `${file} has no column ${showValue(asked)} for the key; it has ${known}`,
      'key_required',
    )
  }
  const why = whyNoKey(column, profile)
  // More values than can be kept are left to the import, which looks at each.
  if (why === null || (column.differs === null && column.count === profile.records)) return column
  throw new ValidationError(
    `${file}: ${showValue(asked)} cannot be the key: ${why}; choose another column, or none to have ids made up`,
    'key_required',
  )
}

/** Reasons of the contract show the value themselves. */
function faultText(value: unknown, reason: string): string {
  return reason.startsWith('is ') ? `${showValue(value)} ${reason}` : reason
}
