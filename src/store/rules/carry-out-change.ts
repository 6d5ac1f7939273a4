import type { CellCounts, DefinitionEffect, OutdatedCount, TargetEffect } from '../definition-change.ts'
import type { FieldsEffect } from '../field-changes.ts'
import { COUNTED_TARGETS, type CountedTarget } from '../rows/definition-changes.ts'
import type { DefinitionChange } from '../sheet-store.ts'
import { editedBefore, recordChange, recordEdit, type ChangeTables } from './record-change.ts'
import { load, type Loaded, type Steps } from './steps.ts'

/** The parts of a change of the definition that differ between engines. */
export interface ChangeParts {
  /** Returns the effect on fields, also where it would be refused. */
  tryFields(): Loaded<FieldsEffect>
  /** Makes the store follow the definition; returns the effect on fields. */
  apply(): Loaded<FieldsEffect>
  /** Returns the time of the change (ISO 8601, UTC). */
  now(): Loaded<string>
  /** Stores the changed files, or prepares writing them, while everything can still be undone. */
  keepFiles(at: string): Loaded<void>
  /** Whether the files are written after the commit. */
  readonly pending: boolean
}

/** Thrown to roll a dry run back. */
export class OnlyTried extends Error {
  readonly effect: DefinitionEffect

  constructor(effect: DefinitionEffect) {
    super('nothing is kept of a dry run')
    this.effect = effect
  }
}

/**
 * Makes the store follow a changed definition, and stores the change in the history, in a transaction of the caller. Throws
 * {@link OnlyTried} for a dry run, after which the transaction must be rolled back.
 */
export function* carryOutChange(
  tables: ChangeTables,
  change: Omit<DefinitionChange, 'definition' | 'formulas'>,
  parts: ChangeParts,
): Steps<DefinitionEffect> {
  const before = yield* definitionState(tables)
  if (change.dryRun) {
    const fields = yield* load(parts.tryFields())
    if (fields.conflicts.length > 0) throw new OnlyTried(refusedEffect(before, fields))
  }
  const edits = yield* editedBefore(tables, change.present)
  const fields = yield* load(parts.apply())
  const effect = yield* effectSince(tables, before, { fields, outdated: change.outdated })
  if (change.dryRun) throw new OnlyTried(effect)
  const at = yield* load(parts.now())
  yield* load(parts.keepFiles(at))
  yield* recordEdit(tables, edits, { actor: null, note: null, at })
  return yield* recordChange(tables, change, { at, effect, pending: parts.pending })
}

/** The state of the store with which {@link effectSince} compares. */
type DefinitionState = ReturnType<(typeof COUNTED_TARGETS)['result']>

/** Reads the state with which {@link effectSince} compares. */
function* definitionState(tables: ChangeTables): Steps<DefinitionState> {
  return yield* load(tables.query(COUNTED_TARGETS))
}

/** Returns the effect of what was done since a state, with the cells that a check will find outdated. */
function* effectSince(
  tables: ChangeTables,
  before: DefinitionState,
  { fields, outdated }: { readonly fields: FieldsEffect; readonly outdated: DefinitionChange['outdated'] },
): Steps<DefinitionEffect> {
  const after = yield* definitionState(tables)
  const checked = after.targets.map((target) => ({
    ...target,
    counts: countsAfterCheck(target.counts, outdated.get(target.field)),
  }))
  const targets = targetEffects(before.targets, checked)
  return { id: null, records: after.records, fields, targets }
}

function countsAfterCheck(counts: CellCounts, outdated: OutdatedCount | undefined): CellCounts {
  if (outdated === undefined) return counts
  const { failedToStale, failedToMissing } = outdated
  // Of a converted field, cells may have lost their values already.
  const fresh = Math.min(outdated.fresh, counts.fresh)
  return {
    ...counts,
    fresh: counts.fresh - fresh,
    stale: counts.stale + fresh + failedToStale,
    missing: counts.missing + failedToMissing,
    failed: counts.failed - failedToStale - failedToMissing,
  }
}

/** Returns the effect that a dry run of a change has that the stored records do not allow. */
function refusedEffect({ records }: DefinitionState, fields: FieldsEffect): DefinitionEffect {
  return { id: null, records, fields, targets: [] }
}

function targetEffects(
  before: readonly CountedTarget[],
  after: readonly CountedTarget[],
): readonly TargetEffect[] {
  // By their ids: the change may have given them other names.
  const known = new Map(before.map((target) => [target.id, target]))
  return after.flatMap((now) => {
    const was = known.get(now.id)
    const [counted, counts] = [was?.active === true ? was.counts : null, now.active ? now.counts : null]
    const change = changeOf(was, now)
    const isSame = change === null && JSON.stringify(counted) === JSON.stringify(counts)
    return isSame
      ? []
      : [
          {
            field: now.active ? now.field : (was?.field ?? now.field),
            derivation: now.derivation,
            change,
            before: counted,
            after: counts,
          },
        ]
  })
}

function changeOf(was: CountedTarget | undefined, now: CountedTarget): TargetEffect['change'] {
  if (was?.active !== true) return now.active ? 'added' : null
  if (!now.active) return 'removed'
  return was.sha256 === now.sha256 && was.derivation === now.derivation ? null : 'changed'
}
