import { Type, type Static } from 'typebox'
import type { DefinitionReport } from '../../sheet/definition/change/change-definition.ts'
import type { CellCounts } from '../../store/definition-change.ts'
import { flagParameter } from '../schema/page-parameters.ts'
import { closedObject } from '../schema/closed-object.ts'

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
  targets: Type.Array(
    Type.Object({
      field: Type.String(),
      file: Type.String({ description: 'Its derivation file.' }),
      change: Type.Union([Type.String(), Type.Null()], {
        description: '`added`, `changed` or `removed`; null if only states of cells change, since inputs do.',
      }),
      before: countsOrNull('before'),
      after: countsOrNull('after'),
    }),
    { description: 'The derived fields for which something changes.' },
  ),
})
export type DefinitionChangeAnswer = Static<typeof DefinitionChangeAnswer>

/** Converts the effect of a change to the wire format. */
export function toDefinitionChangeAnswer({
  id,
  dryRun,
  files,
  records,
  targets,
}: DefinitionReport): DefinitionChangeAnswer {
  const countsOf = (counts: CellCounts | null): CellCounts | null => counts
  return {
    change: id,
    dry_run: dryRun,
    files: files.map(({ path, before, after }) => ({ path, before, after })),
    records,
    targets: targets.map(({ field, derivation, change, before, after }) => ({
      field,
      file: derivation,
      change,
      before: countsOf(before),
      after: countsOf(after),
    })),
  }
}
