import { checkActor, requireActor } from '../contract/rules/permissions.ts'
import type { ValidationError } from '../errors/service-error.ts'
import type { Sheet } from './sheet.ts'

export { checkActor }

/**
 * The actor that a request names; null when it names none. An error when the name is invalid: it is thrown only when
 * the actor is checked, so that other checks come first (D36).
 */
export type GivenActor = string | ValidationError | null

/** Returns the actor of a request: the one it names, else the sheet's default. Throws ValidationError (D36, D39). */
export function resolveActor(sheet: Sheet, given: GivenActor): string {
  if (given instanceof Error) throw given
  return requireActor(given, sheet.defaultActor)
}
