import { createHash } from 'node:crypto'
import type { ChangedFile, DefinitionEffect, StoredFileChange, TargetEffect } from '../definition-change.ts'
import type { FieldsEffect } from '../field-changes.ts'
import {
  COUNTED_TARGETS,
  insertChange,
  insertFile,
  keepText,
  NEXT_CHANGE,
  removeOldTexts,
  versionText,
  type CountedTarget,
} from '../rows/definition-changes.ts'
import type { Query, Statement } from '../rows/query.ts'
import { STORED_TARGETS } from '../rows/stored-targets.ts'
import type { ChangeNote, StoreDefinition } from '../sheet-store.ts'
import { load, type Loaded, type Steps } from './steps.ts'

/** The tables of a store that a change of the definition reads and writes. */
export interface ChangeTables {
  query<T>(query: Query<T>): Loaded<T>
  change(statement: Statement): Loaded<number>
}

/** The state of the store before a change, with which {@link effectSince} compares. */
export type DefinitionState = ReturnType<(typeof COUNTED_TARGETS)['result']>

/** Reads the state with which {@link effectSince} compares. */
export function* definitionState(tables: ChangeTables): Steps<DefinitionState> {
  return yield* load(tables.query(COUNTED_TARGETS))
}

/** Returns the effect of what was done since a state. */
export function* effectSince(
  tables: ChangeTables,
  before: DefinitionState,
  fields: FieldsEffect,
): Steps<DefinitionEffect> {
  const after = yield* definitionState(tables)
  const targets = targetEffects(before.targets, after.targets)
  return { id: null, records: after.records, fields, targets }
}

/** Returns the effect that a dry run of a change has that the stored records do not allow. */
export function refusedEffect({ records }: DefinitionState, fields: FieldsEffect): DefinitionEffect {
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

/** Stores a change in the history; returns its effect with its id. Call it in the transaction that carries it out. */
export function* recordChange(
  tables: ChangeTables,
  { actor, note, reverts, files }: ChangeNote,
  {
    at,
    effect,
    pending,
  }: { readonly at: string; readonly effect: DefinitionEffect; readonly pending: boolean },
): Steps<DefinitionEffect> {
  const number = yield* load(tables.query(NEXT_CHANGE))
  const known = { ...effect, id: String(number) }
  const change = { number, at, actor, note, reverts, effect: withoutValues(known), pending }
  yield* load(tables.change(insertChange(change)))
  yield* recordFiles(tables, number, files)
  return known
}

/** Returns an effect without the values of records that do not fit, which can be long. */
function withoutValues(effect: DefinitionEffect): DefinitionEffect {
  const fields = effect.fields.fields.map((field) => ({ ...field, misfits: [] }))
  return { ...effect, fields: { ...effect.fields, fields } }
}

/** An edit of the definition files that `define` finds. */
export interface FoundEdit {
  /** Who made it; null if that is not known. */
  readonly actor: string | null
  readonly note: string | null
  readonly at: string
}

/**
 * Returns the files of the definition that differ from those that the store follows, with their texts. Call it before the
 * store follows the definition.
 */
export function* editedFiles(
  tables: ChangeTables,
  definition: StoreDefinition,
): Steps<readonly ChangedFile[]> {
  const { contract, targets } = definition
  const files: ChangedFile[] = []
  const stored = yield* load(tables.query(STORED_CONTRACT))
  if (stored !== contract.text) {
    files.push({ path: 'contract.yaml', before: Buffer.from(stored), after: Buffer.from(contract.text) })
  }
  if (targets === null) return files
  const active = (yield* load(tables.query(STORED_TARGETS))).filter((target) => target.active)
  const before = new Map(active.map(({ derivation, sha256 }) => [derivation, sha256]))
  const after = new Map(targets.map((target) => [target.derivation, target]))
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [was, now] = [before.get(name), after.get(name)]
    if (was === now?.sha256) continue
    const text = was === undefined ? null : yield* load(tables.query(versionText(name, was)))
    files.push({
      path: `derivations/${name}`,
      before: text === null ? null : Buffer.from(text),
      after: now === undefined ? null : Buffer.from(now.text),
    })
  }
  return files
}

/** Stores an edit in the history, unless nothing has changed. */
export function* recordEdit(
  tables: ChangeTables,
  files: readonly ChangedFile[],
  { actor, note, at }: FoundEdit,
): Steps<void> {
  if (files.length === 0) return
  const number = yield* load(tables.query(NEXT_CHANGE))
  const change = { number, at, actor, note, reverts: null, effect: null, pending: false }
  yield* load(tables.change(insertChange(change)))
  yield* recordFiles(tables, number, files)
}

function* recordFiles(tables: ChangeTables, number: number, files: readonly ChangedFile[]): Steps<void> {
  for (const { path, before, after } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const stored: StoredFileChange = { path, before: hashOf(before), after: hashOf(after) }
    yield* load(tables.change(insertFile(number, stored)))
    for (const bytes of [before, after]) {
      const sha256 = hashOf(bytes)
      if (bytes !== null && sha256 !== null) yield* load(tables.change(keepText(number, sha256, bytes)))
    }
  }
  yield* load(tables.change(removeOldTexts(number)))
}

function hashOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : createHash('sha256').update(bytes).digest('hex')
}

const STORED_CONTRACT: Query<string> = {
  sql: 'SELECT contract FROM "$sheet"',
  params: [],
  result: ([row]) => String(row?.['contract']),
}
