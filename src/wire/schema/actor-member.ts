import { Type, type TString } from 'typebox'
import { inDocument, NO_CONTROLS } from './openapi-keywords.ts'

/** Keywords for an actor in the OpenAPI document (D39); an empty actor counts as absent (D36). */
export const ACTOR_TEXT = { maxLength: 200, pattern: NO_CONTROLS }

/** A member or parameter that names an actor. */
export function actorMember(description: string): TString {
  return Type.String({ description, ...inDocument(ACTOR_TEXT) })
}
