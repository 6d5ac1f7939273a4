import { Type, type Static } from 'typebox'
import { closedObject } from '../schema/closed-object.ts'
import { flagParameter } from '../schema/page-parameters.ts'

/** Query of the routes that take no parameters. */
export const NoQuery = closedObject({})

/** Query of `GET /api/contract`. */
export const ContractQuery = closedObject({
  derived: Type.Optional(
    flagParameter('With `false`, without `derived`, and also while a derivation file is not valid.'),
  ),
})

/** Response of `GET /api/contract`: the validated document, defaults filled in, with `derived` (D8). */
export const ContractAnswer = Type.Record(Type.String(), Type.Unknown())
export type ContractAnswer = Static<typeof ContractAnswer>
