import { createHash } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Contract, Field } from '../../../contract/contract.ts'
import type { JsonObject } from '../../../contract/json/json.ts'
import { RecordsError } from '../../../errors/service-error.ts'
import { inspectSchema } from '../database/check-schema.ts'
import { Connection, isBusy, sqliteCode } from '../database/connection.ts'
import { quoted, SCHEMA_VERSION } from '../database/schema.ts'
import { fromColumn } from '../database/values.ts'

/** The maximum bytes of a value. */
const MAX_VALUE_BYTES = 8 * 1024 * 1024

/** A record of another sheet. */
export interface OtherRecord {
  readonly values: JsonObject
  /** Approximately, in characters. */
  readonly size: number
}

/**
 * The store of another sheet, in one state. It is only read, and a server can use and change it meanwhile: no file is created, and the database
 * and its write-ahead log are not changed. Beside `-wal` and `-shm`, SQLite locks the store as any reader does and writes to `-shm`. The store may
 * come from an untrusted source.
 */
export class OtherStore {
  readonly contract: Contract
  /** Identifies the store and its last log entry: it differs whenever a record does. */
  readonly version: string
  readonly #db: Connection
  /** Whether a file that is read without locks is unchanged since it was opened; always true for any other. */
  readonly isUnchanged: () => boolean

  private constructor(db: Connection, isUnchanged: () => boolean) {
    const contract = beginReading(db)
    const [key, last] =
      db.tuple('SELECT cursor_key, (SELECT max(seq) FROM "$provenance") FROM "$sheet"') ?? []
    const digest = createHash('sha256').update(contract.text)
    if (key instanceof Uint8Array) digest.update(key)
    // Copies of a store that were changed apart have the same numbers of entries, and other entries.
    const entry = db.within(MAX_VALUE_BYTES, () =>
      db.tuple('SELECT line FROM "$provenance" ORDER BY seq DESC LIMIT 1'),
    )
    digest.update(String(entry?.[0] ?? ''))
    this.contract = contract
    this.version = `${digest.digest('hex').slice(0, 32)} ${String(last ?? 0)}`
    this.#db = db
    this.isUnchanged = isUnchanged
    // A longer value would be an attack on memory, or at least too long to look up.
    db.db.limits.length = MAX_VALUE_BYTES
  }

  /** Opens the store of a sheet's directory; null while it is locked. Throws RecordsError. */
  static open(directory: string): OtherStore | null {
    return openInspected(directory, ({ db, isUnchanged }) => new OtherStore(db, isUnchanged))
  }

  /** Yields the values of these fields in all records. Throws RecordsError. */
  *rows(fields: readonly Field[]): Generator<OtherRecord> {
    const columns = fields.map(({ name }) => quoted(name)).join(', ')
    const statement = this.#db.db.prepare(`SELECT ${columns} FROM "$data"`)
    try {
      for (const row of statement.iterate()) {
        let size = 0
        const entries = fields.map((field) => {
          const stored = row[field.name]
          size += typeof stored === 'string' ? stored.length : 8
          return [field.name, fromColumn(field, stored)] as const
        })
        yield { values: Object.fromEntries(entries), size }
      }
    } catch (error) {
      throw storeError(error)
    }
  }

  close(): void {
    this.#db.close()
  }
}

/** A connection that only reads the store of a sheet's directory. */
export interface InspectedStore {
  readonly db: Connection
  /** Whether another process has the store open. */
  readonly isShared: boolean
  /** Whether a file that is read without locks is unchanged since it was opened; always true for any other. */
  isUnchanged(): boolean
}

/**
 * Opens the store of a sheet's directory as {@link OtherStore} describes it; null while it is locked. Throws RecordsError, also for an error
 * of SQLite in `use`, after which the connection is closed.
 */
export function openInspected<T>(directory: string, use: (store: InspectedStore) => T): T | null {
  let db: Connection | null = null
  try {
    const path = realpathSync(join(directory, 'sheet.db'))
    const { wal, shm } = { wal: stateOf(`${path}-wal`), shm: stateOf(`${path}-shm`) }
    const isShared = wal !== null && shm !== null
    if (!isShared && wal !== null && !wal.startsWith('0 ')) {
      throw new RecordsError(
        'its sheet.db is in exclusive use, or was not closed; end the program that uses it, or open that sheet once with Colophon',
      )
    }
    if (isShared) {
      db = Connection.forInspection(path)
      return use({ db, isShared, isUnchanged: () => true })
    }
    // Without a process that has it open, SQLite would create files beside it, unless it takes no locks.
    const before = stateOf(path)
    const url = pathToFileURL(path)
    url.searchParams.set('immutable', '1')
    db = Connection.forInspection(url)
    const isUnchanged = (): boolean => stateOf(path) === before && stateOf(`${path}-wal`) === wal
    return use({ db, isShared, isUnchanged })
  } catch (error) {
    db?.close()
    if (isBusy(error)) return null
    throw storeError(error)
  }
}

/** Begins to read a store in one state; returns its contract. Throws RecordsError for a store of another version, or one that was manipulated. */
export function beginReading(db: Connection): Contract {
  db.exec('BEGIN')
  const { contract, version } = inspectSchema(db)
  if (version < SCHEMA_VERSION) {
    throw new RecordsError(
      'its sheet.db was made by an earlier version of Colophon; open that sheet once with this version',
      'store_version',
    )
  }
  return contract
}

const CANNOT_OPEN = 'its sheet.db cannot be opened; the server must be able to read it'

/** Messages for SQLite's primary result codes about the file. */
const FILE_ERRORS: Readonly<Record<number, string>> = {
  3: CANNOT_OPEN,
  8: CANNOT_OPEN,
  11: 'its sheet.db is damaged',
  14: CANNOT_OPEN,
  18: `it has a value with more than ${MAX_VALUE_BYTES / 1024 / 1024} MiB`,
  26: 'its sheet.db is not a SQLite database',
}

/** Turns an error about the file into a RecordsError; returns other errors unchanged. */
export function storeError(error: unknown): unknown {
  const code = sqliteCode(error)
  if (code === undefined) {
    return error instanceof SyntaxError ? new RecordsError('its sheet.db has a value that is no JSON') : error
  }
  return new RecordsError(FILE_ERRORS[code % 256] ?? `its sheet.db cannot be read (SQLite error ${code})`)
}

/** Returns size, times and identity of a file; null if there is none. */
function stateOf(path: string): string | null {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? null : `${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.ino}`
}
