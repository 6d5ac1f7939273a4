import { Type, type Static } from 'typebox'

/** Response of `GET /api/healthz`. */
export const HealthAnswer = Type.Object({
  status: Type.Literal('ok', { description: 'Always `ok` with status `200`.' }),
})
export type HealthAnswer = Static<typeof HealthAnswer>
