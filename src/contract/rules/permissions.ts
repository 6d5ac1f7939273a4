import { PermissionDeniedError, ValidationError } from '../../errors/service-error.ts'
import type { Contract, Field } from '../contract.ts'
import { matchesGlob } from '../values/glob.ts'
import { codePoints } from '../values/scalar-checks.ts'

/**
 * Whether the actor may write the field by hand (D7). If the contract has patterns, one must match the whole actor;
 * else everybody may write an ordinary field and nobody a derived one.
 */
export function mayWrite(field: Field, actor: string, derived: boolean): boolean {
  return field.editableBy ? matchesAny(field.editableBy, actor) : !derived
}

/** Returns the reason for which {@link mayWrite} is false. */
export function writeDenial(field: Field, actor: string): string {
  const denial = `actor ${JSON.stringify(actor)} may not write it`
  if (field.editableBy === null) return `${denial}; it is derived, so materialize computes it`
  return `${denial}; it is editable by ${field.editableBy.join(', ') || 'nobody'}`
}

/** Whether the actor may delete records (D7). */
export function mayDelete(contract: Contract, actor: string): boolean {
  return contract.deletableBy === null || matchesAny(contract.deletableBy, actor)
}

/** Throws PermissionDeniedError if the actor may not delete records, and therefore may not `act` (D7). */
export function checkMayDelete(contract: Contract, actor: string, act: string): void {
  if (mayDelete(contract, actor)) return
  throw new PermissionDeniedError(
    `actor ${JSON.stringify(actor)} may not ${act}; the contract's deletableBy allows ` +
      ((contract.deletableBy ?? []).join(', ') || 'nobody'),
    'delete_not_permitted',
  )
}

/** Returns the error of an actor, or null if it is valid (D39). */
export function checkActor(actor: string): string | null {
  if (actor === '') return 'an actor must have at least 1 character'
  if (actor.length > 200 && codePoints(actor) > 200) return 'an actor must have at most 200 characters'
  if (/\p{Cc}/u.test(actor)) return 'an actor must not contain control characters'
  return actor.isWellFormed() ? null : 'an actor must not contain lone surrogates'
}

function matchesAny(patterns: readonly string[], actor: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, actor))
}

/**
 * Returns the actor of an operation: the given one, else the default. Throws ValidationError if it is missing or
 * invalid (D39).
 */
export function requireActor(given: string | null, defaultActor: string | null): string {
  const actor = given === null || given === '' ? defaultActor : given
  if (actor === null) throw new ValidationError('actor is required', 'actor_required')
  const fault = checkActor(actor)
  if (fault !== null) throw new ValidationError(fault, 'invalid_actor')
  return actor
}
