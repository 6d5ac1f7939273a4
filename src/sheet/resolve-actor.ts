import { checkActor } from '../contract/permissions.ts'
import { ValidationError } from '../errors/service-error.ts'
import type { Sheet } from './sheet.ts'

export { checkActor }

/** Who a request is from: the actor it names, else the sheet's default. Throws ValidationError (D36, D39). */
export function resolveActor(sheet: Sheet, given: string | null): string {
  const actor = given === null || given === '' ? sheet.defaultActor : given
  if (actor === null) throw new ValidationError('actor is required')
  const fault = checkActor(actor)
  if (fault !== null) throw new ValidationError(fault)
  return actor
}
