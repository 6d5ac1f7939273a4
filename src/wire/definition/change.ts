import { Type, type Static } from 'typebox'
import type { ServiceError } from '../../errors/service-error.ts'
import type { RunPlan } from '../../derivation/run-request.ts'
import type { DefinitionReport } from '../../sheet/definition/change/change-definition.ts'
import type { ChangeList } from '../../sheet/definition/change/history.ts'
import type { ChangeTexts, DefinitionEffect, StoredChange } from '../../store/definition-change.ts'
import { actorMember } from '../schema/actor-member.ts'
import { cursorParameter, flagParameter, limitParameter } from '../schema/page-parameters.ts'
import { inDocument, STORABLE } from '../schema/openapi-keywords.ts'
import { closedObject } from '../schema/closed-object.ts'
import { RunPlanAnswer, toRunPlanAnswer } from '../runs/materialize.ts'

/** The reason of a change. */
export const changeNote = Type.Optional(
  Type.String({
    maxLength: 1000,
    description: 'The reason, for the history.',
    ...inDocument({ pattern: STORABLE }),
  }),
)

/** Query of the routes that change the definition. */
export const ChangeQuery = closedObject({
  dry_run: Type.Optional(flagParameter('With `true`, nothing is changed: the response says what would be.')),
})
export type ChangeQuery = Static<typeof ChangeQuery>

const versionOrNull = Type.Union([Type.String(), Type.Null()])

/** The numbers of the cells of a derived field in each state. */
const CellCountsAnswer = Type.Object({
  fresh: Type.Integer(),
  stale: Type.Integer(),
  missing: Type.Integer(),
  failed: Type.Integer(),
  overridden: Type.Integer(),
  blocked: Type.Integer({
    description: 'Of the stale, missing and failed cells, those that no run can compute.',
  }),
})

const countsOrNull = (when: string) =>
  Type.Union([CellCountsAnswer, Type.Null()], {
    description: `Cells by state ${when} the change; null where the field is not derived.`,
  })

const TargetEffectAnswer = Type.Object({
  field: Type.String(),
  file: Type.String({ description: 'Its derivation file.' }),
  change: Type.Union([Type.String(), Type.Null()], {
    description: '`added`, `changed` or `removed`; null if only states of cells change, since inputs do.',
  }),
  before: countsOrNull('before'),
  after: countsOrNull('after'),
})

const FieldEffectAnswer = Type.Object({
  field: Type.String({ description: 'Its name after the change; of a removed field the name before.' }),
  change: Type.String({ description: '`added`, `renamed`, `removed`, `converted` or `restored`.' }),
  before: Type.Union([Type.String(), Type.Null()], { description: 'Its name before; null for none.' }),
  kept: Type.Integer({ description: 'Values that stay the same.' }),
  converted: Type.Integer({ description: 'Values that become another.' }),
  lost: Type.Integer({ description: 'Values that are lost.' }),
  misfits: Type.Array(
    Type.Object({ record_id: Type.String(), value: Type.Unknown(), error: Type.String() }),
    { description: 'The first values that do not fit, at most a hundred.' },
  ),
})

/** Response of the routes that change the definition. */
export const DefinitionChangeAnswer = Type.Object({
  change: Type.Union([Type.String(), Type.Null()], {
    description: 'The id of the change; null if nothing was changed.',
  }),
  dry_run: Type.Boolean(),
  files: Type.Array(Type.Object({ path: Type.String(), before: versionOrNull, after: versionOrNull }), {
    description: 'The files that change, with the SHA-256 of their texts; null for no file.',
  }),
  records: Type.Integer({ description: 'Records of the sheet.' }),
  fields: Type.Array(FieldEffectAnswer, { description: 'The fields of the contract that change.' }),
  conflicts: Type.Array(Type.String(), {
    description: 'Why the stored records do not allow the change; only a dry run has any.',
  }),
  targets: Type.Array(TargetEffectAnswer, {
    description: 'The derived fields for which something changes.',
  }),
  recomputing: Type.Optional(
    Type.Union([RunPlanAnswer, Type.Null()], {
      description:
        'With `dry_run`, the plan of the run that would compute the derived fields with further stale or missing cells, and those computed from them; null where it is not known.',
    }),
  ),
})
export type DefinitionChangeAnswer = Static<typeof DefinitionChangeAnswer>
/** Converts the effect of a change to the wire format. */
export function toDefinitionChangeAnswer(report: DefinitionReport): DefinitionChangeAnswer {
  const { id, dryRun, files, proposed: _, recomputing, ...effect } = report
  return {
    change: id,
    dry_run: dryRun,
    files: files.map(({ path, before, after }) => ({ path, before, after })),
    ...toEffectAnswer(effect),
    ...(recomputing !== undefined && { recomputing: toRecomputingAnswer(recomputing) }),
  }
}

function toRecomputingAnswer(plan: RunPlan | null): RunPlanAnswer | null {
  return plan === null ? null : toRunPlanAnswer({ ...plan, notReady: [], stopAfterFailures: null })
}

function toEffectAnswer({ records, fields, targets }: Omit<DefinitionEffect, 'id'>): EffectAnswer {
  return {
    records,
    fields: fields.fields.map(({ misfits, ...field }) => ({
      ...field,
      misfits: misfits.map(({ recordId, value, error }) => ({ record_id: recordId, value, error })),
    })),
    conflicts: [...fields.conflicts],
    targets: targets.map(({ field, derivation, change, before, after }) => ({
      field,
      file: derivation,
      change,
      before,
      after,
    })),
  }
}

type EffectAnswer = Pick<DefinitionChangeAnswer, 'records' | 'fields' | 'conflicts' | 'targets'>

/** Query of `PUT /api/derivations/{file}`. */
export const PutDerivationQuery = closedObject({
  ...ChangeQuery.properties,
  keep: Type.Optional(
    Type.String({
      pattern: '^(fresh)?$',
      title: 'fresh',
      description:
        '`fresh` marks the values of the edited file as fresh, for an edit that changes no value. No effect with `dry_run`.',
      ...inDocument({ enum: ['fresh'], pattern: undefined, allowEmptyValue: true }),
    }),
  ),
})

/** Response of `PUT /api/derivations/{file}`. */
export const PutDerivationAnswer = Type.Object({
  ...DefinitionChangeAnswer.properties,
  run_id: Type.Union([Type.String(), Type.Null()], {
    description: 'With `keep=fresh`, the run that marks the values as fresh; null for none.',
  }),
  run_error: Type.Union([Type.Object({ type: Type.String(), message: Type.String() }), Type.Null()], {
    description: 'Why that run could not start, although the file is changed; null for none.',
  }),
})

/** Converts the effect of a change of a derivation file, with the run that marks its values. */
export function toPutDerivationAnswer(
  report: DefinitionReport,
  { run, error }: { readonly run: string | null; readonly error: ServiceError | null },
): Static<typeof PutDerivationAnswer> {
  const runError = error === null ? null : { type: error.type, message: error.message }
  return { ...toDefinitionChangeAnswer(report), run_id: run, run_error: runError }
}

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

/** Query of `GET /api/definition/history`. */
export const HistoryQuery = closedObject({
  limit: Type.Optional(limitParameter),
  cursor: Type.Optional(cursorParameter('`next_cursor` of the previous page.')),
})

/** Path of a change. */
export const ChangeParams = closedObject({ id: Type.String({ description: 'The id of a change.' }) })

const changeMembers = {
  id: Type.String(),
  at: Type.String({ description: 'The time of the change, or when an edit was found.' }),
  actor: textOrNull('Who changed it; null for an edit of the files, whoever made it.'),
  note: textOrNull('The reason; null for none.'),
  reverts: textOrNull('The id of the change that this one takes back; null for none.'),
  proposal: textOrNull('The id of the accepted proposal whose change it is; null for none.'),
  proposed_by: textOrNull('Who proposed it; `actor` accepted it.'),
}

/** A change in the list. */
const ChangeSummary = Type.Object({
  ...changeMembers,
  files: Type.Array(Type.Object({ path: Type.String(), before: versionOrNull, after: versionOrNull }), {
    description: 'The files that changed, with the SHA-256 of their texts; null for no file.',
  }),
})

/** Response of `GET /api/definition/history`. */
export const HistoryAnswer = Type.Object({
  changes: Type.Array(ChangeSummary),
  next_cursor: textOrNull('The cursor of the next page; null on the last.'),
})
export type HistoryAnswer = Static<typeof HistoryAnswer>

/** Response of `GET /api/definition/history/{id}`. */
export const ChangeAnswer = Type.Object({
  ...changeMembers,
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      before: versionOrNull,
      after: versionOrNull,
      text_before: textOrNull('Null for no file, and for a text that is no longer kept.'),
      text_after: textOrNull('The same, after the change.'),
    }),
  ),
  effect: Type.Union(
    [
      Type.Object({
        records: Type.Integer(),
        fields: Type.Array(FieldEffectAnswer),
        targets: Type.Array(TargetEffectAnswer),
      }),
      Type.Null(),
    ],
    { description: 'What it did, as the response of the change; null for an edit of the files.' },
  ),
})
export type ChangeAnswer = Static<typeof ChangeAnswer>

/** Body of `POST /api/definition/revert`. */
export const RevertChangeBody = closedObject({
  change: Type.String({ minLength: 1, title: 'the id of a change', description: 'The change to take back.' }),
  confirm: Type.Optional(
    Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      description: 'The number of values that may be lost, by the names of fields that the change had added.',
    }),
  ),
  note: changeNote,
  actor: Type.Optional(actorMember('The actor who takes it back; the server default when absent.')),
})

/** Converts a page of the history to the wire format. */
export function toHistoryAnswer({ changes, nextCursor }: ChangeList): HistoryAnswer {
  return {
    changes: changes.map((change) => ({
      ...membersOf(change),
      files: change.files.map((file) => ({ ...file })),
    })),
    next_cursor: nextCursor,
  }
}

/** Converts a change to the wire format; texts that are not UTF-8 have U+FFFD in place of other bytes. */
export function toChangeAnswer({ change, files }: ChangeTexts): ChangeAnswer {
  const { effect } = change
  const textOf = (bytes: Uint8Array | null): string | null => (bytes === null ? null : UTF8.decode(bytes))
  return {
    ...membersOf(change),
    files: files.map(({ path, before, after, bytesBefore, bytesAfter }) => ({
      path,
      before,
      after,
      text_before: textOf(bytesBefore),
      text_after: textOf(bytesAfter),
    })),
    effect: effect === null ? null : withoutConflicts(toEffectAnswer(effect)),
  }
}

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

function withoutConflicts({ records, fields, targets }: EffectAnswer): Exclude<ChangeAnswer['effect'], null> {
  return { records, fields, targets }
}

function membersOf({ id, at, actor, note, reverts, proposal }: StoredChange): ChangeMembers {
  return { id, at, actor, note, reverts, proposal: proposal?.id ?? null, proposed_by: proposal?.by ?? null }
}

type ChangeMembers = Omit<ChangeAnswer, 'effect' | 'files'>
