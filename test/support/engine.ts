import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { createKinds } from '../../src/derivation/kinds.ts'
import { ContractError, SheetError } from '../../src/errors/service-error.ts'
import { DefinitionDirectory } from '../../src/sheet/definition/definition-directory.ts'
import { DefinitionFiles } from '../../src/sheet/definition/definition-files.ts'
import { noCalls } from '../../src/sheet/calls/no-calls.ts'
import { wholeLine } from '../../src/provenance/log-line.ts'
import { openSheet, type SheetOptions } from '../../src/sheet/open-sheet.ts'
import { pushSheet } from '../../src/sheet/lifecycle/push-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { hashFiles } from '../../src/store/revision-store.ts'
import { Database } from '../../src/store/postgres/database/database.ts'
import { newestRevision, writeRevision } from '../../src/store/postgres/definition/revisions.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import { PATIENT_LIMITS } from '../../src/store/suite/support/patient-limits.ts'
import { contractText } from './contract-with.ts'
import { startPostgres } from './postgres.ts'

/** The engine of test sheets: their directories, or a PostgreSQL to which the directories are pushed. */
export type Engine = 'sqlite' | 'postgres'

let engine: Engine = 'sqlite'

/** The URL of the store of each directory that was pushed. */
const stores = new Map<string, string>()

/** The additional kinds with which the sheet of a directory is opened. */
const ownKinds = new Map<string, SheetOptions['kinds']>()

/** Sets the engine of all sheets that {@link openOnEngine} opens from now on in this process. */
export function useEngine(name: Engine): void {
  engine = name
}

/** Returns the choice for the present engine, for intended differences. */
export function perEngine<T>(choices: Readonly<Record<Engine, T>>): T {
  return choices[engine]
}

/**
 * Skips a test about a rule above the engines where its file runs on PostgreSQL for its other tests. Returns whether it does: the test
 * returns then.
 */
export function skipOnPostgres(t: TestContext): boolean {
  if (engine === 'postgres') t.skip()
  return engine === 'postgres'
}

/** Opens the sheet of a directory on this engine, the same one each time. */
export async function openOnEngine(directory: string, options: Partial<SheetOptions> = {}): Promise<Sheet> {
  if (options.kinds !== undefined) ownKinds.set(directory, options.kinds)
  const place = await placeOnEngine(directory, options.defaultActor ?? 'system')
  return openSheet(place, { queryLimits: PATIENT_LIMITS, ...options })
}

/** Returns the path or the URL by which the sheet of this directory is opened on this engine. */
export async function placeOnEngine(directory: string, actor = 'system'): Promise<string> {
  if (engine === 'sqlite') return directory
  const known = stores.get(directory)
  if (known !== undefined) return known
  const pushed = underWay.get(directory) ?? pushFirst(directory, actor)
  underWay.set(directory, pushed)
  return pushed
}

/** First pushes under way, by directory, for concurrent callers. */
const underWay = new Map<string, Promise<string>>()

async function pushFirst(directory: string, actor: string): Promise<string> {
  const url = (await startPostgres()).freshUrl()
  await push(directory, url, actor)
  stores.set(directory, url)
  return url
}

/** Applies edits of definition files in a directory: with a store, by a push. */
export async function applyEdits(directory: string): Promise<void> {
  const url = stores.get(directory)
  if (url !== undefined) await push(directory, url, 'system')
}

/** Changes the sheet of a directory with SQL, bypassing the service. */
export async function changeStore(directory: string, sql: Readonly<Record<Engine, string>>): Promise<void> {
  const url = stores.get(directory)
  if (url === undefined) {
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(join(directory, 'sheet.db'))
    database.exec(sql.sqlite)
    database.close()
    return
  }
  await inStore(url, (database) => database.writing(5000, (db) => db.exec(sql.postgres)))
}

/** Returns the lines of the log of a sheet: from its file, or, on PostgreSQL, from the table. */
export async function readLog(directory: string): Promise<readonly JsonObject[]> {
  const url = stores.get(directory)
  const lines =
    url === undefined
      ? (await readFile(join(directory, 'provenance.jsonl'), 'utf8')).split('\n').slice(0, -1)
      : await inStore(url, async (database) => {
          const rows = await database.all('SELECT line FROM "$provenance" ORDER BY seq')
          return rows.map(({ line }) => String(line))
        })
  return lines.map((line) => JSON.parse(line) as JsonObject)
}

/** Returns all stored bytes of a sheet as text: its files, and the rows of its tables. */
export async function everythingStored(directory: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) found.push((await readFile(join(entry.parentPath, entry.name))).toString('latin1'))
  }
  const url = stores.get(directory)
  if (url === undefined) return found
  return inStore(url, async (database) => {
    const { schema } = database.location
    const tables = await database.all('SELECT tablename FROM pg_tables WHERE schemaname = $1', schema)
    assert.ok(tables.length > 0)
    for (const { tablename } of tables) {
      const rows = await database.all(`SELECT kept::text FROM "${String(tablename)}" AS kept`)
      found.push(...rows.map(({ kept }) => String(kept)))
    }
    return found
  })
}

/** Returns the whole lines of the log after a seq, from the table. */
export async function readLinesAfter(directory: string, seq: number): Promise<readonly string[]> {
  const lines = 'SELECT line FROM "$provenance" WHERE seq > '
  const url = stores.get(directory)
  if (url !== undefined) {
    return inStore(url, async (database) => {
      const rows = await database.all(`${lines}$1 ORDER BY seq`, seq)
      return rows.map(({ line }) => wholeLine(String(line)))
    })
  }
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(join(directory, 'sheet.db'), { readOnly: true })
  try {
    const rows = database.prepare(`${lines}? ORDER BY seq`).all(seq)
    return rows.map(({ line }) => wholeLine(String(line)))
  } finally {
    database.close()
  }
}

async function push(directory: string, url: string, actor: string): Promise<void> {
  const kinds = ownKinds.get(directory)
  const options = { actor, note: null, dryRun: false, lockTimeoutMs: 5000, ...(kinds && { kinds }) }
  try {
    await pushSheet(directory, url, options)
  } catch (error) {
    if (!(error instanceof ContractError || error instanceof SheetError)) throw error
    if (!(await hasSheet(url))) await pushEmptySheet(url)
    await writeAsItIs(directory, url)
  }
}

/**
 * Makes the files of a directory the newest revision although a push would refuse them, as with a revision of another version of the
 * service: errors are then reported as in a directory.
 */
async function writeAsItIs(directory: string, url: string): Promise<void> {
  const definition = new DefinitionFiles(
    new DefinitionDirectory(directory),
    createKinds({ transport: noCalls() }),
  )
  definition.faults()
  const files = definition.all()
  await inStore(url, (database) =>
    database.writing(5000, async (db) => {
      const number = (await newestRevision(db)) + 1
      const at = new Date().toISOString()
      await writeRevision(db, { number, at, actor: 'system', note: null, sha256: hashFiles(files), files })
    }),
  )
}

async function hasSheet(url: string): Promise<boolean> {
  return inStore(url, async (database) => {
    const found = await database.get(
      'SELECT 1 FROM pg_namespace WHERE nspname = $1',
      database.location.schema,
    )
    return found !== undefined
  })
}

async function pushEmptySheet(url: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-empty-'))
  try {
    writeFileSync(join(directory, 'contract.yaml'), contractText([]))
    await push(directory, url, 'system')
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function inStore<T>(url: string, use: (database: Database) => Promise<T>): Promise<T> {
  const database = new Database(parseStoreUrl(url))
  try {
    return await use(database)
  } finally {
    await database.close()
  }
}
