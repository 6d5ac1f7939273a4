import { Type, type Static } from 'typebox'
import type { CamelKeys } from '../schema/camel-keys.ts'
import { closedObject } from '../schema/closed-object.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { TargetName } from '../schema/names.ts'
import { idsParameter, targetsParameter } from '../schema/page-parameters.ts'
import { ProvenanceEntryAnswer } from '../records/provenance.ts'
import { failureReason, responseBody } from '../schema/failure-members.ts'

const cellState = Type.String({
  description:
    '`fresh`, `stale`, `missing`, `failed`, `overridden`, or `blocked`: pending, but a run cannot compute it because of an input.',
})

/** Query of `GET /api/status`. */
export const StatusQuery = closedObject({
  targets: Type.Optional(targetsParameter()),
})

/** The state of one derived field (D32). `fresh` to `overridden` add up to `total_records`; `blocked` is counted separately. */
export const TargetStatusAnswer = Type.Object({
  derivation: Type.String({ description: 'Name of the derivation file.' }),
  kind: Type.String(),
  total_records: Type.Integer(),
  fresh: Type.Integer(),
  stale: Type.Integer(),
  missing: Type.Integer(),
  failed: Type.Integer(),
  overridden: Type.Integer(),
  blocked: Type.Integer({
    description:
      'Of the missing, stale and failed cells, those that a run cannot compute because an input failed, is empty, or is itself blocked.',
  }),
  ready: Type.Object(
    { missing: Type.Integer(), stale: Type.Integer(), failed: Type.Integer() },
    { description: 'The missing, stale and failed cells that are not blocked: those that a run computes.' },
  ),
  last_at: Type.Union([Type.String(), Type.Null()]),
  last_actor: Type.Union([Type.String(), Type.Null()]),
  last_error: Type.Union([Type.String(), Type.Null()]),
})
export type TargetStatusAnswer = Static<typeof TargetStatusAnswer>

/** Response of `GET /api/status`, keyed by target field. */
export const StatusAnswer = Type.Record(Type.String(), TargetStatusAnswer)
export type StatusAnswer = Static<typeof StatusAnswer>

/** Query of `GET /api/cells`. */
export const CellStatesQuery = closedObject({
  ids: idsParameter('Comma-separated record ids, 1 to 1000.', { maxItems: 1000 }),
  targets: Type.Optional(targetsParameter()),
})

/** Response of `GET /api/cells`: by record id, by target, the state of the cell (D32). */
export const CellStatesAnswer = Type.Record(Type.String(), Type.Record(Type.String(), cellState))
export type CellStatesAnswer = Static<typeof CellStatesAnswer>

/** Converts a status to the wire format. */
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
    blocked: report.blocked,
    ready: report.ready,
    last_at: report.lastAt,
    last_actor: report.lastActor,
    last_error: report.lastError,
  }
}

const was = { was: Type.Unknown({ description: 'The value when the cell was last computed.' }) }
const is = { is: Type.Unknown() }

/** A part of the input hash that has changed since the cell was last computed. */
export const CellReasonAnswer = Type.Union([
  Type.Object({ part: Type.Literal('input'), field: Type.String(), ...was, ...is }),
  Type.Object({
    part: Type.Literal('derivation'),
    was: Type.Union([Type.String(), Type.Null()], {
      description: 'Hex SHA-256; null when no longer known.',
    }),
    is: Type.String(),
    was_text: Type.Optional(
      Type.String({ description: 'The text of the file at that time, where it is known.' }),
    ),
    is_text: Type.Optional(
      Type.String({ description: 'The text of the file now; present with `was_text`.' }),
    ),
  }),
  Type.Object({
    part: Type.Literal('url'),
    was: Type.String(),
    is: Type.Union([Type.String(), Type.Null()], {
      description: 'Null when no request can be made from the inputs.',
    }),
  }),
  Type.Object({ part: Type.Literal('body'), ...was, ...is }),
  Type.Object(
    { part: Type.Literal('member'), name: Type.String(), ...was, ...is },
    { description: 'Another member that the kind of the derivation hashes.' },
  ),
])
export type CellReasonAnswer = Static<typeof CellReasonAnswer>

/** The failure of the last attempt to compute a cell. */
export const CellFailureAnswer = Type.Object({
  error: Type.String(),
  error_type: Type.String(),
  reason: failureReason,
  response_body: responseBody,
  at: Type.String(),
  retry_at: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description:
        'The time from which runs try the cell again (`retry_failed_after` of its derivation); null for never. Absent when the next run tries it.',
    }),
  ),
})
export type CellFailureAnswer = Static<typeof CellFailureAnswer>

/** Path of `GET /api/status/{target}/{record_id}`. */
export const CellParams = Type.Object({
  target: Type.String({
    description: 'The derived field.',
    ...inDocument({ allOf: [TargetName], exampleOf: 'target' }),
  }),
  record_id: Type.String({
    description: 'The record’s id, percent-encoded.',
    ...inDocument({ minLength: 1, exampleOf: 'recordId' }),
  }),
})

/** Response of `GET /api/status/{target}/{record_id}`. */
export const CellExplanationAnswer = Type.Object({
  state: cellState,
  reasons: Type.Array(CellReasonAnswer),
  blocked_by: Type.Union([Type.String(), Type.Null()], {
    description: 'For a blocked cell, the input that prevents its computation.',
  }),
  blocked_reason: Type.Union(
    [Type.Literal('input_failed'), Type.Literal('input_empty'), Type.Literal('input_blocked'), Type.Null()],
    {
      description:
        'The state of that input: its last attempt failed, it is required and has no value, or it is itself blocked.',
    },
  ),
  waits_for: Type.Array(Type.String(), {
    description: 'Derived fields to compute before this cell, in order.',
  }),
  failure: Type.Union([CellFailureAnswer, Type.Null()]),
  entry: Type.Union([ProvenanceEntryAnswer, Type.Null()], {
    description: 'The latest provenance entry of the cell.',
  }),
})
export type CellExplanationAnswer = Static<typeof CellExplanationAnswer>

/** Converts the explanation of a cell to the wire format; log entries are in that format already. */
export function toCellExplanationAnswer(
  explanation: Omit<CamelKeys<CellExplanationAnswer>, 'reasons' | 'failure' | 'entry' | 'waitsFor'> & {
    readonly waitsFor: readonly string[]
    readonly reasons: readonly Reason[]
    readonly failure: CamelKeys<CellFailureAnswer> | null
    readonly entry: object | null
  },
): CellExplanationAnswer {
  const { state, reasons, blockedBy, blockedReason, waitsFor, failure, entry } = explanation
  return {
    state,
    reasons: reasons.map(toCellReasonAnswer),
    blocked_by: blockedBy,
    blocked_reason: blockedReason,
    waits_for: [...waitsFor],
    failure: failure === null ? null : toCellFailureAnswer(failure),
    entry: entry as ProvenanceEntryAnswer | null,
  }
}

/** A reason, in which `url` and `body` are members like any other. */
type Reason =
  | Extract<CamelKeys<CellReasonAnswer>, { part: 'input' | 'derivation' }>
  | { readonly part: 'member'; readonly name: string; readonly was: unknown; readonly is: unknown }

function toCellReasonAnswer(reason: Reason): CellReasonAnswer {
  if (reason.part === 'input') return reason
  if (reason.part === 'member') {
    const { part: _, name, ...between } = reason
    // The members of http have parts of their own, as documented.
    if (name === 'url' || name === 'body') return { part: name, ...between } as CellReasonAnswer
    return reason
  }
  const { wasText, isText, ...rest } = reason
  return {
    ...rest,
    ...(wasText === undefined ? {} : { was_text: wasText }),
    ...(isText === undefined ? {} : { is_text: isText }),
  }
}

function toCellFailureAnswer(failure: CamelKeys<CellFailureAnswer>): CellFailureAnswer {
  const { error, errorType, reason, responseBody: received, at, retryAt } = failure
  return {
    error,
    error_type: errorType,
    reason,
    ...(received !== undefined && { response_body: received }),
    at,
    ...(retryAt !== undefined && { retry_at: retryAt }),
  }
}
