import { checkActor, requireActor } from '../contract/rules/permissions.ts'
import type { ValidationError } from '../errors/service-error.ts'
import type { Sheet } from './sheet.ts'

export { checkActor }

/**
 * Whom a request names as its actor: nobody when null. The error when it should and cannot, which is told when it is
 * the actor's turn among the checks (D36).
 */
export type GivenActor = string | ValidationError | null

/** Who a request is from: the actor it names, else the sheet's default. Throws ValidationError (D36, D39). */
export function resolveActor(sheet: Sheet, given: GivenActor): string {
  if (given instanceof Error) throw given
  return requireActor(given, sheet.defaultActor)
}
