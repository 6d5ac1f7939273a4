import { checkActor, requireActor } from '../contract/permissions.ts'
import type { Sheet } from './sheet.ts'

export { checkActor }

/** Who a request is from: the actor it names, else the sheet's default. Throws ValidationError (D36, D39). */
export function resolveActor(sheet: Sheet, given: string | null): string {
  return requireActor(given, sheet.defaultActor)
}
