import { sqlState } from '../database/errors.ts'
import type { Database } from '../database/database.ts'
import { giveReaderAccess, readerRole, roleMissing } from './reader-role.ts'

/** How long it may take until the store's other work lets the role be made. */
const WAIT_MS = 10_000

/** The role for SQL from users, looked for when it is first needed and again when something is wrong with it. */
export class ReaderAccess {
  readonly #database: Database
  #role: Promise<string> | null = null

  constructor(database: Database) {
    this.#database = database
  }

  /** The role. Throws RecordsError, which says what to run, when the store's user may not make it. */
  role(): Promise<string> {
    this.#role ??= this.#find()
    this.#role.catch(() => {
      this.#role = null
    })
    return this.#role
  }

  /** Whether an error may come of a role that is gone or was made anew; it is then looked for again. */
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
    const role = await this.#database.writing(WAIT_MS, (db) => giveReaderAccess(db, schema))
    if (role !== null) return role
    const user = await this.#database.get('SELECT session_user AS name')
    throw roleMissing(await readerRole(this.#database, schema), String(user?.['name']))
  }
}

/** The role may not be taken on, or nothing is granted to it; or a statement does what it may not. */
const NOT_GRANTED = '42501'

/** Of many values that cannot be used, a role's name among them. */
const NO_SUCH_ROLE = '22023'
