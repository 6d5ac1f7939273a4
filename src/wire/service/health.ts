import { Type, type Static } from 'typebox'

/** Answer of `GET /api/healthz`. */
export const HealthAnswer = Type.Object({
  status: Type.Literal('ok', { description: 'Anything else is no `200`.' }),
})
export type HealthAnswer = Static<typeof HealthAnswer>
