import { RecordsError, SheetError } from '../../../errors/service-error.ts'
import type { Revision, RevisionFile, RevisionStore } from '../../revision-store.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { withAdvice } from '../database/connect-advice.ts'
import { Database } from '../database/database.ts'
import { FrameFeed } from '../frames/frame-feed.ts'
import { PresentState } from '../read/present-state.ts'
import { bringUpToDate } from './open-sheet-tables.ts'
import { refusePooling } from '../database/refuse-pooling.ts'
import { parseStoreUrl } from '../database/store-url.ts'

/**
 * The revisions of a sheet in PostgreSQL. They have their own connections, so that checking for a newer one never waits for
 * long queries.
 */
export class PostgresRevisions implements RevisionStore {
  readonly name: string
  readonly frames: FrameFeed
  readonly present: PresentState
  readonly #database: Database

  private constructor(database: Database) {
    this.name = database.location.schema
    this.#database = database
    this.frames = new FrameFeed(database)
    this.present = new PresentState(database)
  }

  /**
   * Opens the revisions of the sheet at a URL. Throws SheetError where no sheet was pushed, RecordsError for a database
   * that cannot be used.
   */
  static async open(url: string, lockTimeoutMs: number): Promise<PostgresRevisions> {
    const database = new Database(parseStoreUrl(url))
    const { schema } = database.location
    try {
      await refusePooling(database)
      const found = await bringUpToDate(database, lockTimeoutMs)
      if (!found) throw noSheet(schema)
      const revisions = new PostgresRevisions(database)
      if ((await revisions.newest()) === 0) throw noSheet(schema)
      return revisions
    } catch (error) {
      await database.close()
      throw withAdvice(error, database.location)
    }
  }

  newest(): Promise<number> {
    return this.present.revision()
  }

  read(number: number): Promise<Revision> {
    return this.#database.reading(async (db) => {
      const revision = await readRevision(db, number)
      if (revision === null) throw new RecordsError(`the store has no revision ${number} of the sheet`)
      return revision
    })
  }

  async close(): Promise<void> {
    await this.frames.close()
    await this.#database.close()
  }
}

function noSheet(schema: string): SheetError {
  return new SheetError(
    `there is no sheet in the schema "${schema}" of the database; put one there with: colophon push <sheet> --store <url>`,
    'not_a_sheet',
  )
}

/** Returns the number of the newest revision; 0 for none. */
export async function newestRevision(db: Connection): Promise<number> {
  const row = await db.get('SELECT number FROM "$revision" ORDER BY number DESC LIMIT 1')
  return Number(row?.['number'] ?? 0)
}

/** Returns a revision with its files; null when it does not exist. */
export async function readRevision(db: Connection, number: number): Promise<Revision | null> {
  const row = await db.get('SELECT at, actor, note, sha256 FROM "$revision" WHERE number = $1', number)
  if (row === undefined) return null
  const files = await db.all(
    'SELECT path, bytes FROM "$revision_file" WHERE revision = $1 ORDER BY path',
    number,
  )
  return {
    number,
    at: String(row['at']),
    actor: String(row['actor']),
    note: row['note'] === null ? null : String(row['note']),
    sha256: String(row['sha256']),
    files: files.map(fileOf),
  }
}

function fileOf(row: StoredRow): RevisionFile {
  return { path: String(row['path']), bytes: row['bytes'] as Buffer }
}

/** Stores a revision. Call it in the transaction that applies it, which has locked the row of `$sheet`. */
export async function writeRevision(db: Connection, revision: Revision): Promise<void> {
  const { number, at, actor, note, sha256, files } = revision
  await db.run(
    'INSERT INTO "$revision" (number, at, actor, note, sha256) VALUES ($1, $2, $3, $4, $5)',
    number,
    at,
    actor,
    note,
    sha256,
  )
  for (const { path, bytes } of files) {
    await db.run(
      'INSERT INTO "$revision_file" (revision, path, bytes) VALUES ($1, $2, $3)',
      number,
      path,
      bytes,
    )
  }
}
