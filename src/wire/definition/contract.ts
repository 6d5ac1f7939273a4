import { Type, type Static } from 'typebox'
import { closedObject } from '../schema/closed-object.ts'

/** Query of the routes that take no parameters. */
export const NoQuery = closedObject({})

/** Response of `GET /api/contract`: the validated document, defaults filled in, with `derived` (D8). */
export const ContractAnswer = Type.Record(Type.String(), Type.Unknown())
export type ContractAnswer = Static<typeof ContractAnswer>
