import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { SqlGuard } from './sql-guard.ts'
import { ENGINE_LIMITS } from './sql-limits.ts'

/** The database in a query process: read-only, and confined while SQL from a user is compiled and run. */
export class SqlDatabase {
  readonly guard: SqlGuard
  readonly #database: DatabaseSync
  readonly #begin: StatementSync
  readonly #touch: StatementSync
  readonly #end: StatementSync
  readonly #schemaVersion: StatementSync
  readonly #tables: StatementSync
  #known: unknown = null

  /** Opens the file, which must exist. */
  constructor(path: string) {
    this.#database = new DatabaseSync(path, {
      readOnly: true,
      defensive: true,
      allowExtension: false,
      enableDoubleQuotedStringLiterals: false,
      limits: ENGINE_LIMITS,
      timeout: 1000,
    })
    this.#database.exec(`
      PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -4096; PRAGMA mmap_size = 0x7fff0000
    `)
    this.guard = new SqlGuard(this.#database)
    this.#begin = this.#database.prepare('BEGIN')
    this.#touch = this.#database.prepare('SELECT 1 FROM "$data" LIMIT 1')
    this.#end = this.#database.prepare('COMMIT')
    this.#schemaVersion = this.#database.prepare('PRAGMA schema_version')
    this.#tables = this.#database.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
  }

  /**
   * Runs `action` on one state of the database, with its schema in that state: SQLite notices a change of the schema only
   * when a statement runs, too late for one that was compiled just before and now has other columns.
   */
  snapshot<T>(action: () => T): T {
    this.#begin.run()
    try {
      this.#touch.get()
      this.#knowTables()
      return action()
    } finally {
      this.#end.run()
    }
  }

  /** Updates the guard's list of tables: to the authorizer, a table without a named column looks like a CTE. */
  #knowTables(): void {
    const version = this.#schemaVersion.get()?.['schema_version']
    if (version === this.#known) return
    this.guard.know(this.#tables.all().map(({ name }) => String(name)))
    this.#known = version
  }

  prepare(sql: string): StatementSync {
    return this.#database.prepare(sql)
  }

  close(): void {
    this.#database.close()
  }
}
