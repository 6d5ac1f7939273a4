import { basename } from 'node:path'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { LockTimeoutError, RecordsError } from '../../../errors/service-error.ts'
import { adviceFor, systemCode } from '../../../errors/system-code.ts'
import { fieldsChanged } from '../../revision-store.ts'
import type { Query, Statement } from '../../rows/query.ts'

/** A statement that is wrong for the schema. */
export const SQLITE_ERROR = 1

const SQLITE_BUSY = 5
/** `SQLITE_IOERR_FSYNC` and `SQLITE_IOERR_DIR_FSYNC`. */
const SYNC_FAULTS: ReadonlySet<number> = new Set([1034, 1290])
const SQLITE_TOOBIG = 18

/** Milliseconds between two attempts to take a lock. */
const RETRY_MS = 5

/** The same for one that others hold briefly, see {@link LockWait.isBrief}. Each pause is longer than the last one, up to the most. */
const BRIEF_RETRY_MS = { first: 0.1, growth: 9 / 8, most: 1 }

/** Memory in which nothing changes, to block a thread for less than a timer's millisecond. */
const NEVER = new Int32Array(new SharedArrayBuffer(4))

/** The file may be untrusted: SQLite must not run functions from its schema. */
const NO_TRUST = 'PRAGMA trusted_schema=OFF;'

/** Checks each page when it is read: for the first check of a file, and for writing. */
const CHECK_PAGES = 'PRAGMA cell_size_check=ON;'

/** Pages of the write-ahead log from which on a commit moves them into the database. */
export const AUTO_CHECKPOINT_PAGES = 16_000

/** The most statements with changing text that a connection keeps prepared. */
const STATEMENT_LIMIT = 500

export type StoredRow = Record<string, SQLOutputValue>

/** The columns of a row in their order. */
export type StoredTuple = readonly SQLOutputValue[]

/** A connection that prepares each statement once. */
export class Connection {
  readonly db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  readonly #tupleStatements = new Map<string, StatementSync>()

  private constructor(db: DatabaseSync) {
    this.db = db
  }

  /** Opens the store for writing: WAL, and every commit durable before it returns (D17). */
  static forWriting(path: string): Connection {
    const db = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false, defensive: true })
    try {
      db.exec(
        `${NO_TRUST} ${CHECK_PAGES} PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-65536; PRAGMA wal_autocheckpoint=${AUTO_CHECKPOINT_PAGES}`,
      )
    } catch (error) {
      db.close()
      throw error
    }
    return new Connection(db)
  }

  /**
   * Opens the store for reading, with its pages mapped into memory. They are not checked at each read, which would take a
   * quarter of a small read's time: use {@link forInspection} first.
   */
  static forReading(path: string): Connection {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 0, defensive: true })
    db.exec(`${NO_TRUST} PRAGMA mmap_size=0x7fff0000; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192`)
    return new Connection(db)
  }

  /**
   * Opens a file of unknown content, to inspect its schema. Changes nothing in the file; beside one in WAL mode, `-wal` and
   * `-shm` may be created, unless it is given as a URL with `immutable`.
   */
  static forInspection(path: string | URL): Connection {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 0, defensive: true })
    try {
      db.exec(NO_TRUST + CHECK_PAGES)
    } catch (error) {
      db.close()
      throw error
    }
    return new Connection(db)
  }

  /** Opens an empty database that exists as long as the connection. */
  static inMemory(): Connection {
    return new Connection(new DatabaseSync(':memory:'))
  }

  /**
   * Opens a file that is being built and is not used until it is finished: no journal on the disk, no syncs.
   * (`journal_mode=OFF` would have no effect, since node:sqlite opens databases in defensive mode.)
   */
  static forBuilding(path: string): Connection {
    const db = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false })
    db.exec('PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA cache_size=-32768')
    return new Connection(db)
  }

  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.db.prepare(sql)
      if (this.#statements.size >= STATEMENT_LIMIT) this.#statements.clear()
      this.#statements.set(sql, statement)
    }
    return statement
  }

  run(sql: string, ...params: SQLInputValue[]): number {
    return Number(this.prepare(sql).run(...params).changes)
  }

  get(sql: string, ...params: SQLInputValue[]): StoredRow | undefined {
    return this.prepare(sql).get(...params)
  }

  all(sql: string, ...params: SQLInputValue[]): StoredRow[] {
    return this.prepare(sql).all(...params)
  }

  /** Carries out a statement that both engines share, and returns what its rows mean. */
  query<T>({ sql, params, result }: Query<T>): T {
    return result(this.all(sql, ...params))
  }

  /** Carries out a statement that both engines share, and returns how many rows it changed. */
  change({ sql, params }: Statement): number {
    return this.run(sql, ...params)
  }

  /** Reads like {@link get}, where reads are so frequent that the names of columns cost too much. */
  tuple(sql: string, ...params: SQLInputValue[]): StoredTuple | undefined {
    return this.#forTuples(sql).get(...params) as unknown as StoredTuple | undefined
  }

  /** Reads like {@link all}, for the same reason. */
  tuples(sql: string, ...params: SQLInputValue[]): StoredTuple[] {
    return this.#forTuples(sql).all(...params) as unknown as StoredTuple[]
  }

  #forTuples(sql: string): StatementSync {
    let statement = this.#tupleStatements.get(sql)
    if (statement === undefined) {
      statement = this.db.prepare(sql)
      statement.setReturnArrays(true)
      if (this.#tupleStatements.size >= STATEMENT_LIMIT) this.#tupleStatements.clear()
      this.#tupleStatements.set(sql, statement)
    }
    return statement
  }

  /** Reads, unless a value becomes longer than so many bytes: then it ends at once, with null. */
  within<T>(bytes: number, read: () => T): T | null {
    const { limits } = this.db
    const { length } = limits
    limits.length = bytes
    try {
      return read()
    } catch (error) {
      if ((sqliteCode(error) ?? 0) % 256 === SQLITE_TOOBIG) return null
      throw error
    } finally {
      limits.length = length
    }
  }

  exec(sql: string): void {
    this.db.exec(sql)
  }

  close(): void {
    this.#statements.clear()
    this.#tupleStatements.clear()
    this.db.close()
  }
}

/** Whether an error says that another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return (sqliteCode(error) ?? 0) % 256 === SQLITE_BUSY
}

/** Returns the extended result code of an error of SQLite; `undefined` for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}

/**
 * Whether the file system failed to sync. The content of the disk is then known only after a restart: a second sync would succeed without
 * the pages that the first one lost. A write that failed is rolled back, as on a full disk.
 */
export function isSyncFault(error: unknown): boolean {
  if (SYNC_FAULTS.has(sqliteCode(error) ?? 0)) return true
  return error instanceof Error && 'syscall' in error && /^f(data)?sync$/.test(String(error.syscall))
}

/**
 * Turns an error about a file into a RecordsError, and one about a column that is gone into an OutdatedDefinitionError; returns other errors
 * unchanged.
 */
export function asRecordsError(error: unknown): unknown {
  // The statements of the store name fields: one was renamed or removed since they were made.
  if (error instanceof Error && sqliteCode(error) === SQLITE_ERROR && MISSING_COLUMN.test(error.message)) {
    return fieldsChanged()
  }
  const system = systemCode(error)
  if (system !== undefined) {
    return new RecordsError(
      `the store cannot be used: reading or writing ${fileOf(error)} failed (${system}); ${adviceFor(system)}`,
    )
  }
  const what = FILE_ERRORS[(sqliteCode(error) ?? 0) % 256]
  return what === undefined ? error : new RecordsError(`the store cannot be used: ${what}`)
}

/** Returns the name of the file of a file system error, as far as the error has it. */
function fileOf(error: unknown): string {
  const known = error instanceof Error && 'path' in error && typeof error.path === 'string'
  return known ? basename(error.path as string) : 'a file of the sheet'
}

const MISSING_COLUMN = /^no such column: /

const MAKE_WRITABLE = "the sheet's directory and its files must be writable for the server"

/** Messages for SQLite's primary result codes about the file and not about the program. */
const FILE_ERRORS: Readonly<Record<number, string>> = {
  3: `no permission to open sheet.db; ${MAKE_WRITABLE}`,
  8: `sheet.db cannot be written; ${MAKE_WRITABLE}`,
  10: 'reading or writing sheet.db failed; check the disk and its quota',
  11: 'sheet.db is damaged',
  13: adviceFor('ENOSPC'),
  14: `sheet.db cannot be opened; ${MAKE_WRITABLE}`,
  26: 'sheet.db is not a SQLite database',
}

export interface LockWait {
  /** The time to give up, by `performance.now()`. */
  readonly deadline: number
  readonly signal?: AbortSignal
  /** The name of the locked resource, for the error's message. */
  readonly what: string
  /**
   * Whether others hold the lock for milliseconds at a time and the thread has nothing else to do: it is then tried so often that little
   * time is lost between two holders. Pauses of less than a millisecond block the thread, for eight milliseconds in all.
   */
  readonly isBrief?: boolean
}

/**
 * Runs `BEGIN IMMEDIATE` or `BEGIN EXCLUSIVE`, with retries while another connection has the lock; they do not block the
 * thread, unless the wait {@link LockWait.isBrief}. Throws LockTimeoutError at the deadline, and the signal's reason when it is aborted.
 */
export function beginWhenFree(
  connection: Pick<Connection, 'exec'>,
  mode: 'IMMEDIATE' | 'EXCLUSIVE',
  wait: LockWait,
): Promise<void> {
  return whenFree(wait, () => connection.exec(`BEGIN ${mode}`))
}

/** Retries `attempt` until no other connection holds its lock; see {@link beginWhenFree}. */
export async function whenFree<T>(wait: LockWait, attempt: () => T): Promise<T> {
  const { first, growth, most } = BRIEF_RETRY_MS
  for (let pause = first; ; pause = Math.min(pause * growth, most)) {
    wait.signal?.throwIfAborted()
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() >= wait.deadline) {
        throw new LockTimeoutError(
          `${wait.what} is in use by another process; try again when it has finished`,
        )
      }
      if (wait.isBrief === true) await pauseBriefly(pause)
      else await sleep(RETRY_MS)
    }
  }
}

async function pauseBriefly(ms: number): Promise<void> {
  if (ms < 1) Atomics.wait(NEVER, 0, 0, ms)
  else await sleep(ms)
}
