import { Type, type Static } from 'typebox'
import { actorMember } from '../schema/actor-member.ts'
import { closedObject } from '../schema/closed-object.ts'

/** Query of `GET /api/permissions`. */
export const PermissionsQuery = closedObject({
  actor: Type.Optional(actorMember('The actor; the server default when absent.')),
})

/** Response of `GET /api/permissions` (D7). */
export const PermissionsAnswer = Type.Object({
  actor: Type.String(),
  write: Type.Array(Type.String(), { description: 'Fields that the actor may write by hand.' }),
  delete: Type.Boolean({ description: 'Whether the actor may delete records.' }),
  fixed: Type.Optional(
    Type.Literal(true, {
      description: 'Present when a reverse proxy sets the actor of requests, whatever actor they name.',
    }),
  ),
  read_only_definition: Type.Optional(
    Type.Literal(true, {
      description:
        'Present when the server refuses changes of the contract and of derivations, by any actor.',
    }),
  ),
})
export type PermissionsAnswer = Static<typeof PermissionsAnswer>
