import { Type, type Static } from 'typebox'
import type { CamelKeys } from './camel-keys.ts'
import { closedObject } from './closed-object.ts'

/** Query of `GET /api/status`. */
export const StatusQuery = closedObject({
  targets: Type.Optional(Type.String({ description: 'Comma-separated target fields; all when absent.' })),
})

/** The state of one derived field (D32). `fresh` to `overridden` add up to `total_records`. */
export const TargetStatusAnswer = Type.Object({
  derivation: Type.String({ description: 'Name of the derivation file.' }),
  kind: Type.String(),
  total_records: Type.Integer(),
  fresh: Type.Integer(),
  stale: Type.Integer(),
  missing: Type.Integer(),
  failed: Type.Integer(),
  overridden: Type.Integer(),
  last_at: Type.Union([Type.String(), Type.Null()]),
  last_actor: Type.Union([Type.String(), Type.Null()]),
  last_error: Type.Union([Type.String(), Type.Null()]),
})
export type TargetStatusAnswer = Static<typeof TargetStatusAnswer>

/** Answer of `GET /api/status`, keyed by target field. */
export const StatusAnswer = Type.Record(Type.String(), TargetStatusAnswer)
export type StatusAnswer = Static<typeof StatusAnswer>

/** Turns a status into its wire form. */
export function toStatusAnswer(
  status: Readonly<Record<string, CamelKeys<TargetStatusAnswer>>>,
): StatusAnswer {
  return Object.fromEntries(
    Object.entries(status).map(([target, report]) => [target, toTargetStatusAnswer(report)]),
  )
}

function toTargetStatusAnswer(report: CamelKeys<TargetStatusAnswer>): TargetStatusAnswer {
  return {
    derivation: report.derivation,
    kind: report.kind,
    total_records: report.totalRecords,
    fresh: report.fresh,
    stale: report.stale,
    missing: report.missing,
    failed: report.failed,
    overridden: report.overridden,
    last_at: report.lastAt,
    last_actor: report.lastActor,
    last_error: report.lastError,
  }
}
