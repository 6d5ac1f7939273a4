import { Type, type Static } from 'typebox'
import type { CamelKeys } from './camel-keys.ts'
import { closedObject } from './closed-object.ts'

/** Body of `POST /api/materialize`. */
export const MaterializeBody = closedObject({
  targets: Type.Optional(Type.Array(Type.String(), { description: 'Only these target fields.' })),
  record_ids: Type.Optional(Type.Array(Type.String(), { description: 'Only these records.' })),
  force: Type.Optional(Type.Boolean({ description: 'Compute again even what is fresh or in the cache.' })),
  actor: Type.Optional(Type.String({ description: 'Who runs it; the server default when absent.' })),
})
export type MaterializeBody = Static<typeof MaterializeBody>

/** A cell that failed. */
export const FailureAnswer = Type.Object({
  record_id: Type.String(),
  field: Type.String(),
  error: Type.String({
    description: 'For http `<METHOD> <URL> -> ` and the status or what went wrong (D26).',
  }),
  error_type: Type.String(),
})

/** Answer of `POST /api/materialize` (specification, "Materialization envelope"; exactly these four members, D30). */
export const MaterializeAnswer = Type.Object({
  materialized: Type.Integer({ description: 'Cells computed.' }),
  skipped: Type.Integer({ description: 'Cells not recomputed.' }),
  failures: Type.Array(FailureAnswer),
  total_cost: Type.Number(),
})
export type MaterializeAnswer = Static<typeof MaterializeAnswer>

/** What a run came to, as the service has it. */
export type MaterializeReport = CamelKeys<Omit<MaterializeAnswer, 'failures'>> & {
  readonly failures: readonly CamelKeys<Static<typeof FailureAnswer>>[]
}

/** Turns what a run came to into its wire form. */
export function toMaterializeAnswer(report: MaterializeReport): MaterializeAnswer {
  return {
    materialized: report.materialized,
    skipped: report.skipped,
    failures: report.failures.map((failure) => ({
      record_id: failure.recordId,
      field: failure.field,
      error: failure.error,
      error_type: failure.errorType,
    })),
    total_cost: report.totalCost,
  }
}
