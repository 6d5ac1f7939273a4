import { mayDelete, mayWrite } from '../../contract/rules/permissions.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import type { Sheet } from '../sheet.ts'

/** The permissions of an actor (D7). */
export interface Permissions {
  readonly actor: string
  /** The fields that it may edit, in the contract's order. */
  readonly write: readonly string[]
  readonly delete: boolean
}

/**
 * Returns the permissions of an actor, or of the sheet's default. Throws ValidationError for a missing or bad actor
 * (D39).
 */
export async function readPermissions(sheet: Sheet, given: GivenActor): Promise<Permissions> {
  const { contract, derivations } = await sheet.defined()
  const actor = resolveActor(sheet, given)
  const write = contract.fields.filter((field) =>
    mayWrite(field, actor, derivations.byTarget.has(field.name)),
  )
  return { actor, write: write.map(({ name }) => name), delete: mayDelete(contract, actor) }
}
