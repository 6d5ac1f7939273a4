import { sqlState } from '../database/errors.ts'
import type { Database } from '../database/database.ts'
import { grantReaderAccess, readerRole, roleMissing } from './reader-role.ts'

/** Milliseconds to wait for locks of the store's other work when the role is created. */
const WAIT_MS = 10_000

/** Provides the role for SQL from users, looked up when it is first needed and again after an error of it. */
export class ReaderAccess {
  readonly #database: Database
  #role: Promise<string> | null = null

  constructor(database: Database) {
    this.#database = database
  }

  /** Returns the role. Throws RecordsError, with the statement to run, when the store's user may not create it. */
  role(): Promise<string> {
    this.#role ??= this.#find()
    this.#role.catch(() => {
      this.#role = null
    })
    return this.#role
  }

  /** Whether an error may result from a role that was deleted or recreated; the role is then looked up again. */
  isLost(error: unknown): boolean {
    const state = sqlState(error)
    const lost =
      state === NOT_GRANTED ||
      (state === NO_SUCH_ROLE && error instanceof Error && /\brole\b/.test(error.message))
    if (lost) this.#role = null
    return lost
  }

  async #find(): Promise<string> {
    const { schema } = this.#database.location
    const role = await this.#database.writing(WAIT_MS, (db) => grantReaderAccess(db, schema))
    if (role !== null) return role
    const user = await this.#database.get('SELECT session_user AS name')
    throw roleMissing(await readerRole(this.#database, schema), String(user?.['name']))
  }
}

/** Insufficient privilege: the role may not be set, or nothing is granted to it, or a statement lacks permission. */
const NOT_GRANTED = '42501'

/** Invalid parameter value, among others the name of a role that does not exist. */
const NO_SUCH_ROLE = '22023'
