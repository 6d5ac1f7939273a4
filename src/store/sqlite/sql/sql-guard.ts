import { constants, type DatabaseSync } from 'node:sqlite'
import { QueryError } from '../../../errors/service-error.ts'
import { shown } from '../../rules/sql-errors.ts'
import { noSuchTable } from './sql-errors.ts'
import { ALLOWED_FUNCTIONS, ALLOWED_TABLE_FUNCTIONS } from './sql-functions.ts'

/** The view that SQL from users sees, and the table behind it. */
const VIEW = 'records'
export const DATA_TABLE = '$data'

/** What SQLite's authorizer is asked: the names depend on the action. */
interface Access {
  readonly action: number
  readonly first: string | null
  readonly second: string | null
  readonly database: string | null
  /** The view, subquery or CTE in which the access stands. */
  readonly inside: string | null
}

/**
 * SQLite's authorizer for a connection that runs SQL from users: what is compiled inside {@link SqlGuard.confine} may
 * select, recurse, call listed functions and read `records`, and nothing else (D18). Statements compiled outside are
 * the program's own and may do anything.
 *
 * The authorizer cannot tell the view from a CTE that is called `records` too, nor `count(*)` over the view from
 * `count(*)` over the table behind it. So nobody may call {@link DATA_TABLE} by name: whoever confines a statement
 * has refused that name first.
 */
export class SqlGuard {
  /** Virtual tables that this build of SQLite has, by the names that FROM takes. */
  readonly #modules: ReadonlySet<string>
  /** Other tables and views of the database, in small letters: the store's own, and whatever else somebody has put there. */
  #others: ReadonlySet<string> = new Set()
  /** False while the program's own statements run. */
  #confined = false
  #refusal: QueryError | null = null

  constructor(database: DatabaseSync) {
    const modules = database.prepare('SELECT name FROM pragma_module_list').all()
    this.#modules = new Set(modules.map(({ name }) => String(name).toLowerCase()))
    database.setAuthorizer((action, first, second, name, inside) => {
      if (!this.#confined) return constants.SQLITE_OK
      const refusal = this.#judge({ action, first, second, database: name, inside })
      this.#refusal ??= refusal
      return refusal === null ? constants.SQLITE_OK : constants.SQLITE_DENY
    })
  }

  /** Takes note of the tables and views that the database has by now; for what is confined from then on. */
  know(tables: Iterable<string>): void {
    const names = Array.from(tables, (name) => name.toLowerCase())
    this.#others = new Set(names.filter((name) => name !== VIEW))
  }

  /**
   * Runs `action`, in which SQL from a user is compiled and run; `names` are those that stand in it, in small letters.
   * Throws QueryError for what is refused.
   *
   * A fault of a statement that names another table is told as if there were no such table: SQLite compiles far enough
   * to say which columns a table has before it asks the authorizer.
   */
  confine<T>(names: ReadonlySet<string>, action: () => T): T {
    this.#confined = true
    this.#refusal = null
    try {
      return action()
    } catch (error) {
      const other = [...names].find((name) => this.#others.has(name))
      // First, since a refusal may speak of what stands behind a view.
      throw other === undefined
        ? (this.#refusal ?? error)
        : new QueryError(noSuchTable(other), 'unknown_table')
    } finally {
      this.#confined = false
    }
  }

  /** Why an access is refused, or null. */
  #judge(access: Access): QueryError | null {
    switch (access.action) {
      case constants.SQLITE_SELECT:
      case constants.SQLITE_RECURSIVE:
        return null
      case constants.SQLITE_FUNCTION: {
        const name = access.second ?? ''
        return ALLOWED_FUNCTIONS.has(name)
          ? null
          : new QueryError(`the function ${name}() cannot be used`, 'forbidden_function')
      }
      case constants.SQLITE_READ: {
        const table = (access.first ?? '').toLowerCase()
        return this.#mayRead(table, access) ? null : this.#tableRefusal(table)
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
      // database here. No field's name has a `$`, every other column's begins with it.
      return column === '' || (access.inside?.toLowerCase() === VIEW && !column.startsWith('$'))
    }
    // Read without a column, and in no database yet: a CTE, unless it is something real that no column was named of.
    return column === '' && access.database === null && !this.#isReal(table)
  }

  #isReal(table: string): boolean {
    // Those that begin with `pragma_` or `json` are listed by SQLite only once somebody has used them.
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
