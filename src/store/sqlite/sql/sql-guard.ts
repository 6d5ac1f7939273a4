import { constants, type DatabaseSync } from 'node:sqlite'
import { QueryError } from '../../../errors/service-error.ts'
import { shown } from './sql-errors.ts'
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
  /** False while the program's own statements run. */
  #confined = false
  #refusal: string | null = null

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

  /** Runs `action`, in which SQL from a user is compiled and run. Throws QueryError for what is refused. */
  confine<T>(action: () => T): T {
    this.#confined = true
    this.#refusal = null
    try {
      return action()
    } catch (error) {
      throw this.#refusal === null ? error : new QueryError(this.#refusal)
    } finally {
      this.#confined = false
    }
  }

  /** Why an access is refused, or null. */
  #judge(access: Access): string | null {
    switch (access.action) {
      case constants.SQLITE_SELECT:
      case constants.SQLITE_RECURSIVE:
        return null
      case constants.SQLITE_FUNCTION: {
        const name = access.second ?? ''
        return ALLOWED_FUNCTIONS.has(name) ? null : `the function ${name}() cannot be used`
      }
      case constants.SQLITE_READ: {
        const table = (access.first ?? '').toLowerCase()
        return this.#mayRead(table, access) ? null : tableRefusal(table)
      }
      default:
        return 'only SELECT statements can be run'
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
    return /^(?:\$|sqlite_|pragma_)/.test(table) || this.#modules.has(table)
  }
}

function tableRefusal(table: string): string {
  const named = table.startsWith('$') ? 'that table' : `"${shown(table)}"`
  return `${named} cannot be read: the only table is "records"`
}
