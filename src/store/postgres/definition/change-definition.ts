import type { DefinitionEffect } from '../../definition-change.ts'
import type { FieldsEffect } from '../../field-changes.ts'
import { hashFiles, OutdatedDefinitionError, type RevisionFile } from '../../revision-store.ts'
import {
  definitionState,
  editedFiles,
  effectSince,
  recordChange,
  recordEdit,
  refusedEffect,
  type ChangeTables,
} from '../../rules/record-change.ts'
import { runAsync } from '../../rules/steps.ts'
import type { DefinitionChange, StoreDefinition } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'
import { readTime } from '../database/database-clock.ts'
import { applyDefinition, tryDefinition, type ApplyOptions } from './apply-definition.ts'
import { newestRevision, readRevision, writeRevision } from './revisions.ts'

/** What was done in a transaction, with the statements that it carries out last. */
interface Done<T> {
  readonly value: T
  readonly last: readonly string[]
}

/**
 * Makes the store follow a definition, in a transaction that has locked the row of `$sheet`. Throws OutdatedDefinitionError for
 * that of a revision that is no longer in force, and as {@link applyDefinition} does.
 */
export async function define(
  db: Connection,
  definition: StoreDefinition,
  options: ApplyOptions,
): Promise<Done<FieldsEffect>> {
  await checkRevision(db, definition)
  const tables = tablesOf(db)
  const edits = await runAsync(editedFiles(tables, definition))
  const { effect, last } = await applyDefinition(db, definition, options)
  if (edits.length > 0) {
    await runAsync(recordEdit(tables, edits, { actor: null, note: null, at: await readTime(db) }))
  }
  return { value: effect, last }
}

/**
 * Makes the store follow a changed definition, as {@link define}, and stores the change: in the history, and where the definition
 * is in the store as its newest revision. Throws {@link OnlyTried} for a dry run, after which the transaction must be rolled back.
 */
export async function changeDefinition(
  db: Connection,
  change: DefinitionChange,
  options: ApplyOptions,
): Promise<Done<DefinitionEffect>> {
  const { definition, dryRun } = change
  await checkRevision(db, definition)
  const tables = tablesOf(db)
  const before = await runAsync(definitionState(tables))
  if (dryRun) {
    const fields = await tryDefinition(db, definition)
    if (fields.conflicts.length > 0) throw new OnlyTried(refusedEffect(before, fields))
  }
  const { effect: fields, last } = await applyDefinition(db, definition, options)
  const effect = await runAsync(effectSince(tables, before, fields))
  if (dryRun) throw new OnlyTried(effect)
  const at = await readTime(db)
  if (definition.revision !== undefined) await addRevision(db, change, at)
  return { value: await runAsync(recordChange(tables, change, { at, effect, pending: false })), last }
}

/** Rolls a dry run back. */
export class OnlyTried extends Error {
  readonly effect: DefinitionEffect

  constructor(effect: DefinitionEffect) {
    super('nothing is kept of a dry run')
    this.effect = effect
  }
}

/** Stores the changed files with the others as the newest revision. */
async function addRevision(
  db: Connection,
  { files, actor, note }: DefinitionChange,
  at: string,
): Promise<void> {
  const newest = await newestRevision(db)
  const known = new Map((await readRevision(db, newest))?.files.map((file) => [file.path, file]))
  for (const { path, after } of files) {
    if (after === null) known.delete(path)
    else known.set(path, { path, bytes: after })
  }
  const changed: RevisionFile[] = [...known.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
  await writeRevision(db, {
    number: newest + 1,
    at,
    actor,
    note,
    sha256: hashFiles(changed),
    files: changed,
  })
}

/** Throws OutdatedDefinitionError for the definition of a revision that is no longer in force. */
async function checkRevision(db: Connection, { revision }: StoreDefinition): Promise<void> {
  if (revision === undefined || (await newestRevision(db)) === revision) return
  throw new OutdatedDefinitionError('another revision of the sheet was pushed meanwhile; try again')
}

/** Returns the tables for steps that both engines share. */
export function tablesOf(db: Connection): ChangeTables {
  return { query: (query) => db.query(query), change: (statement) => db.change(statement) }
}
