import type { Contract } from '../../contract/contract.ts'
import { nearest } from '../../contract/nearest.ts'
import { showNames } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { CurrentSheet, Sheet } from '../sheet.ts'

/**
 * Returns the fields of a response: those asked for, in that order, else all of the contract (D12). Throws
 * ValidationError.
 */
export function selectFields(contract: Contract, asked: readonly string[] | null): readonly string[] {
  if (asked === null) return allFields(contract)
  const unknown = asked.filter((name) => !contract.fieldByName.has(name))
  if (unknown.length > 0) throw unknownFields(contract, unknown)
  return asked
}

/** Returns the fields of a response about the past, as {@link selectFields} does: names from before are known as well. */
export async function selectPastFields(
  { contract, store }: Pick<CurrentSheet, 'contract' | 'store'>,
  asked: readonly string[] | null,
): Promise<readonly string[]> {
  const unknown = asked?.filter((name) => !contract.fieldByName.has(name)) ?? []
  if (asked === null || unknown.length === 0) return selectFields(contract, asked)
  const former = await store.formerNames()
  const absent = unknown.filter((name) => !contract.fieldByName.has(former.get(name) ?? name))
  if (absent.length > 0) throw unknownFields(contract, absent)
  return asked
}

/** Returns the present name of a field, given that or one that it had before. Throws ValidationError for any other. */
export async function presentName(
  { contract, store }: Pick<CurrentSheet, 'contract' | 'store'>,
  field: string,
): Promise<string> {
  if (contract.fieldByName.has(field)) return field
  const present = (await store.formerNames()).get(field)
  if (present === undefined || !contract.fieldByName.has(present)) throw unknownFields(contract, [field])
  return present
}

/** Returns the given names. Throws ValidationError, which lists the contract's fields, when one is not a field. */
export async function requireFields(sheet: Sheet, names: readonly string[]): Promise<readonly string[]> {
  const { contract } = await sheet.current()
  return selectFields(contract, names)
}

/** One list for each contract: the store caches by the identity of the list. */
const ALL_FIELDS = new WeakMap<Contract, readonly string[]>()

function allFields(contract: Contract): readonly string[] {
  let names = ALL_FIELDS.get(contract)
  if (names === undefined) {
    names = contract.fields.map(({ name }) => name)
    ALL_FIELDS.set(contract, names)
  }
  return names
}

/**
 * Creates the error for fields that the contract lacks: it suggests the nearest one, and lists the contract's fields.
 */
export function unknownFields(contract: Contract, unknown: readonly string[]): ValidationError {
  const known = contract.fields.map(({ name }) => name)
  const meant = [...new Set(unknown.slice(0, SUGGESTED).flatMap((name) => nearest(name, known) ?? []))]
  const suggestion = meant.length === 0 ? '' : ` (did you mean ${showNames(meant)}?)`
  return new ValidationError(
    `unknown ${unknown.length === 1 ? 'field' : 'fields'} ${showNames(unknown)}${suggestion}; ` +
      `the contract has ${known.join(', ')}`,
    'unknown_field',
  )
}

/** Unknown names for which the nearest field is suggested. */
const SUGGESTED = 5
