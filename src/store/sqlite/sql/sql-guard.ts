import { constants, type DatabaseSync } from 'node:sqlite'
import { QueryError } from '../../../errors/service-error.ts'
import { shown } from '../../rules/sql/sql-errors.ts'
import { noSuchTable } from './sql-errors.ts'
import { ALLOWED_FUNCTIONS, ALLOWED_TABLE_FUNCTIONS } from './sql-functions.ts'

/** The view that SQL from users sees, and the table behind it. */
const VIEW = 'records'
export const DATA_TABLE = '$data'

/** Observes what the statements of users do. */
export interface GuardWatch {
  /** Returns why a column of `records` cannot be read, null if it can; its name is empty for none, as by `count(*)`. */
  read?(column: string): QueryError | null
  /** Returns why a function cannot be called; null if it can. */
  call?(name: string): QueryError | null
}

/** The arguments of SQLite's authorizer: the names depend on the action. */
interface Access {
  readonly action: number
  readonly first: string | null
  readonly second: string | null
  readonly database: string | null
  /** The view, subquery or CTE that contains the access. */
  readonly inside: string | null
}

/**
 * SQLite's authorizer for a connection that runs SQL from users: what is compiled inside {@link SqlGuard.confine} may
 * select, recurse, call listed functions and read `records`, and nothing else (D18). Statements compiled outside are the
 * program's own and may do anything.
 *
 * The authorizer cannot distinguish the view from a CTE that is called `records` too, nor `count(*)` over the view from
 * `count(*)` over the table behind it. So no statement may name {@link DATA_TABLE}: the caller must have refused that name.
 */
export class SqlGuard {
  /** Virtual tables of this build of SQLite, by their names in FROM. */
  readonly #modules: ReadonlySet<string>
  /** Other tables and views of the database, in small letters: the store's own, and any that were added. */
  #others: ReadonlySet<string> = new Set()
  /** False while the program's own statements run. */
  #confined = false
  #refusal: QueryError | null = null
  readonly #watch: GuardWatch

  /** `watch` receives the columns of `records` that statements read, and the functions that they call; it may refuse these. */
  constructor(database: DatabaseSync, watch: GuardWatch = {}) {
    this.#watch = watch
    const modules = database.prepare('SELECT name FROM pragma_module_list').all()
    this.#modules = new Set(modules.map(({ name }) => String(name).toLowerCase()))
    database.setAuthorizer((action, first, second, name, inside) => {
      if (!this.#confined) return constants.SQLITE_OK
      const refusal = this.#refusalOf({ action, first, second, database: name, inside })
      this.#refusal ??= refusal
      return refusal === null ? constants.SQLITE_OK : constants.SQLITE_DENY
    })
  }

  /** Sets the tables and views of the database, for statements confined from then on. */
  know(tables: Iterable<string>): void {
    const names = Array.from(tables, (name) => name.toLowerCase())
    this.#others = new Set(names.filter((name) => name !== VIEW))
  }

  /**
   * Runs `action`, in which SQL from a user is compiled and run; `names` are the names in it, in small letters. Throws
   * QueryError for what is refused.
   *
   * An error of a statement that names another table is reported as if that did not exist: SQLite reports the columns of a
   * table before it asks the authorizer.
   */
  confine<T>(names: ReadonlySet<string>, action: () => T): T {
    this.#confined = true
    this.#refusal = null
    try {
      return action()
    } catch (error) {
      const other = [...names].find((name) => this.#others.has(name))
      // First, since a refusal may name what is behind a view.
      throw other === undefined
        ? (this.#refusal ?? error)
        : new QueryError(noSuchTable(other), 'unknown_table')
    } finally {
      this.#confined = false
    }
  }

  /** Returns the reason why an access is refused, or null. */
  #refusalOf(access: Access): QueryError | null {
    switch (access.action) {
      case constants.SQLITE_SELECT:
      case constants.SQLITE_RECURSIVE:
        return null
      case constants.SQLITE_FUNCTION: {
        const name = access.second ?? ''
        return ALLOWED_FUNCTIONS.has(name)
          ? (this.#watch.call?.(name) ?? null)
          : new QueryError(`the function ${name}() cannot be used`, 'forbidden_function')
      }
      case constants.SQLITE_READ: {
        const table = (access.first ?? '').toLowerCase()
        if (!this.#mayRead(table, access)) return this.#tableRefusal(table)
        return table === VIEW ? (this.#watch.read?.(access.second ?? '') ?? null) : null
      }
      default:
        return new QueryError('only SELECT statements can be run', 'not_select')
    }
  }

  #mayRead(table: string, access: Access): boolean {
    const column = access.second ?? ''
    if (ALLOWED_TABLE_FUNCTIONS.has(table) || table === VIEW) return true
    if (table === DATA_TABLE) {
      if (access.database !== 'main') return false
      // An empty column is the view once SQLite has merged it into the statement: the table's bare name would have no
      // database here. No field's name contains `$`; every other column's begins with it.
      return column === '' || (access.inside?.toLowerCase() === VIEW && !column.startsWith('$'))
    }
    // Read without a column and without a database: a CTE, unless it is a real table without a named column.
    return column === '' && access.database === null && !this.#isReal(table)
  }

  #isReal(table: string): boolean {
    // SQLite lists those that begin with `pragma_` or `json` only after their first use.
    return (
      /^(?:\$|sqlite_|pragma_|jsonb?_(?:each|tree)$)/.test(table) ||
      this.#modules.has(table) ||
      this.#others.has(table)
    )
  }

  #tableRefusal(table: string): QueryError {
    const isHidden = table.startsWith('$') || this.#others.has(table)
    const message = isHidden
      ? noSuchTable(table)
      : `"${shown(table)}" cannot be read: the only table is "records"`
    return new QueryError(message, 'unknown_table')
  }
}
