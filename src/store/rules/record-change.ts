import { createHash } from 'node:crypto'
import type { ChangedFile, DefinitionEffect, StoredFileChange } from '../definition-change.ts'
import {
  insertChange,
  insertFile,
  keepText,
  NEXT_CHANGE,
  removeOldTexts,
  STORED_CONTRACT,
  versionText,
} from '../rows/definition-changes.ts'
import type { Query, Statement } from '../rows/query.ts'
import { STORED_TARGETS } from '../rows/stored-targets.ts'
import type { ChangeNote, DefinitionChange, StoreDefinition } from '../sheet-store.ts'
import { acceptDefinition } from './decide-proposal.ts'
import { load, type Loaded, type Steps } from './steps.ts'

/** The tables of a store that a change of the definition reads and writes. */
export interface ChangeTables {
  query<T>(query: Query<T>): Loaded<T>
  change(statement: Statement): Loaded<number>
}

/** Stores a change in the history; returns its effect with its id. Call it in the transaction that carries it out. */
export function* recordChange(
  tables: ChangeTables,
  { actor, note, reverts, proposal, files }: ChangeNote,
  {
    at,
    effect,
    pending,
  }: { readonly at: string; readonly effect: DefinitionEffect; readonly pending: boolean },
): Steps<DefinitionEffect> {
  if (proposal !== null) yield* acceptDefinition(tables, { id: proposal.id, actor }, at)
  const number = yield* load(tables.query(NEXT_CHANGE))
  const known = { ...effect, id: String(number) }
  const change = { number, at, actor, note, reverts, proposal, effect: withoutValues(known), pending }
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
  /** The person, agent or program that made it; null if unknown. */
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
  const derivations = targets?.map(({ derivation, sha256, text }) => [
    derivation,
    { sha256, bytes: Buffer.from(text) },
  ])
  return yield* differences(
    tables,
    Buffer.from(contract.text),
    derivations === undefined ? null : new Map(derivations as [string, PresentFile][]),
  )
}

/**
 * Returns the files on which a change is based that differ from those that the store follows: edits that were not valid, or waited for
 * another file to be. Call it before the store follows the change.
 */
export function* editedBefore(
  tables: ChangeTables,
  present: DefinitionChange['present'],
): Steps<readonly ChangedFile[]> {
  const contract = present.find(({ path }) => path === 'contract.yaml')?.bytes ?? null
  const derivations = present.flatMap(({ path, bytes }): [string, PresentFile][] =>
    path.startsWith(FOLDER) ? [[path.slice(FOLDER.length), { sha256: hashOf(bytes) ?? '', bytes }]] : [],
  )
  return yield* differences(tables, contract, new Map(derivations))
}

const FOLDER = 'derivations/'

interface PresentFile {
  readonly sha256: string
  readonly bytes: Uint8Array
}

/** Compares files with those that the store follows; null leaves derivations out. */
function* differences(
  tables: ChangeTables,
  contract: Uint8Array | null,
  derivations: ReadonlyMap<string, PresentFile> | null,
): Steps<readonly ChangedFile[]> {
  const files: ChangedFile[] = []
  const stored = yield* load(tables.query(STORED_CONTRACT))
  // Without a byte order mark, which the stored text does not have.
  if (contract === null || stored !== new TextDecoder().decode(contract)) {
    files.push({ path: 'contract.yaml', before: Buffer.from(stored), after: contract })
  }
  if (derivations === null) return files
  const active = (yield* load(tables.query(STORED_TARGETS))).filter((target) => target.active)
  const before = new Map(active.map(({ derivation, sha256 }) => [derivation, sha256]))
  for (const name of new Set([...before.keys(), ...derivations.keys()])) {
    const [was, now] = [before.get(name), derivations.get(name)]
    if (was === now?.sha256) continue
    const text = was === undefined ? null : yield* load(tables.query(versionText(name, was)))
    files.push({
      path: FOLDER + name,
      before: text === null ? null : Buffer.from(text),
      after: now?.bytes ?? null,
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
  const change = { number, at, actor, note, reverts: null, proposal: null, effect: null, pending: false }
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
