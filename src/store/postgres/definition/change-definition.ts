import type { DefinitionEffect } from '../../definition-change.ts'
import type { FieldsEffect } from '../../field-changes.ts'
import { hashFiles, OutdatedDefinitionError, type RevisionFile } from '../../revision-store.ts'
import { carryOutChange } from '../../rules/carry-out-change.ts'
import { editedFiles, recordEdit } from '../../rules/record-change.ts'
import { runAsync } from '../../rules/steps.ts'
import type { DefinitionChange, StoreDefinition } from '../../sheet-store.ts'
import type { Connection } from '../database/connection.ts'
import { readTime } from '../database/database-clock.ts'
import { applyDefinition, tryDefinition, type ApplyOptions } from './apply-definition.ts'
import { newestRevision, readRevision, writeRevision } from './revisions.ts'

/** The result of a transaction, with the statements that it carries out last. */
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
  const edits = await runAsync(editedFiles(db, definition))
  const { effect, last } = await applyDefinition(db, definition, options)
  if (edits.length > 0) {
    await runAsync(recordEdit(db, edits, { actor: null, note: null, at: await readTime(db) }))
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
  const { definition } = change
  await checkRevision(db, definition)
  let last: readonly string[] = []
  const value = await runAsync(
    carryOutChange(db, change, {
      tryFields: () => tryDefinition(db, definition),
      apply: async () => {
        const applied = await applyDefinition(db, definition, options)
        last = applied.last
        return applied.effect
      },
      now: () => readTime(db),
      keepFiles: async (at) => {
        if (definition.revision !== undefined) await addRevision(db, change, at)
      },
      pending: false,
    }),
  )
  return { value, last }
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
