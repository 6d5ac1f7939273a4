import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { FormulaField, QueryFacts, QueryReader } from '../../formula.ts'
import { duplicateColumn, notDeterministicInQuery } from '../../rules/sql/sql-errors.ts'
import { checkRecordsQuery } from '../sql/sql-checks.ts'
import { noSuchTable, shown } from '../sql/sql-errors.ts'
import { checkCall } from './function-calls.ts'
import { presentIn } from './present-time.ts'
import {
  makesDate,
  MAX_DEPTH,
  namesOf,
  parseSql,
  presentTime,
  tooDeepQuery,
  type Parse,
} from './syntax-tree.ts'

const VIEW = 'records'

/** Returns the check of queries of derivations for PostgreSQL. */
export function queryReader(parse: Parse): QueryReader {
  return (statement, { listed, fields }) => {
    const checked = checkRecordsQuery(statement, { listed, fields })
    const facts = new QueryTree(fields)
    try {
      const facts_ = facts.read(parseSql(parse, checked.text))
      return { inputs: checked.inputs, ...facts_ }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw tooDeepQuery()
    }
  }
}

/** Whether the rows of a query have an order, so that one of several comes first. Throws QueryError. */
export function isOrdered(parse: Parse, text: string): boolean {
  return Object.hasOwn(selectOf(parseSql(parse, text)), 'sortClause')
}

/** Returns the syntax tree of the one SELECT of a text. Throws QueryError. */
function selectOf(tree: JsonObject): JsonObject {
  const statements = (tree['stmts'] ?? []) as readonly {
    readonly stmt?: { readonly SelectStmt?: JsonObject }
  }[]
  const select = statements[0]?.stmt?.SelectStmt
  if (statements.length !== 1 || select === undefined)
    throw new QueryError('only one SELECT can be run', 'not_select')
  return select
}

/** Collects facts from the syntax tree of a query, whose nodes are objects of one member that names their type. */
class QueryTree {
  readonly #fields: ReadonlySet<string>
  readonly #types: ReadonlyMap<string, FormulaField['type']>
  /** The names of columns anywhere in the query: those of the records, and perhaps others of the same name. */
  readonly #columns = new Set<string>()
  /** Those of them that were named without a table. */
  readonly #alone = new Set<string>()
  /** The names of tables and of common table expressions. */
  readonly #sources = new Set<string>()
  readonly #defined = new Set<string>()
  /** The names by which whole rows of the records can be named. */
  readonly #tables = new Set<string>([VIEW])
  #readsAll = false
  #readsRecords = false
  #hasDates = false
  #present: string | null = null

  constructor(fields: readonly FormulaField[]) {
    this.#fields = new Set(fields.map(({ name }) => name))
    this.#types = new Map(fields.map(({ name, type }) => [name, type]))
  }

  read(tree: JsonObject): Omit<QueryFacts, 'inputs'> {
    const select = selectOf(tree)
    this.#add(select, 0)
    if (this.#hasDates && this.#present !== null) throw notDeterministicInQuery(`'${this.#present}'`)
    const other = [...this.#sources].find((name) => name !== VIEW && !this.#defined.has(name))
    if (other !== undefined) throw new QueryError(noSuchTable(other), 'unknown_table')
    // A table is a column of its rows where a value is expected.
    const hasRows = [...this.#alone].some((name) => this.#tables.has(name) && !this.#fields.has(name))
    const all = this.#readsRecords && (this.#readsAll || hasRows)
    const reads = this.#readsRecords ? [...this.#fields].filter((name) => all || this.#columns.has(name)) : []
    return { reads, columns: columnsOf(select) }
  }

  #add(node: JsonValue | undefined, depth: number): void {
    if (depth > MAX_DEPTH) throw tooDeepQuery()
    if (Array.isArray(node)) {
      for (const item of node as readonly JsonValue[]) this.#add(item, depth + 1)
      return
    }
    if (!isJsonObject(node ?? null)) return
    for (const [type, value] of Object.entries(node as JsonObject)) {
      if (isJsonObject(value)) {
        this.#hasDates ||= makesDate(type, value)
        this.#check(type, value)
      }
      this.#add(value, depth + 1)
    }
  }

  #check(type: string, node: JsonObject): void {
    switch (type) {
      case 'ColumnRef':
        return this.#column(namesOf(node['fields']))
      case 'RangeVar':
        return this.#table(node)
      case 'JoinExpr':
        if (node['isNatural'] === true) this.#readsAll = true
        for (const name of namesOf(node['usingClause'])) if (name !== null) this.#named(name)
        return
      case 'CommonTableExpr':
        if (typeof node['ctename'] === 'string') this.#defined.add(node['ctename'])
        return
      case 'InsertStmt':
      case 'UpdateStmt':
      case 'DeleteStmt':
      case 'MergeStmt':
      case 'intoClause':
        throw new QueryError('only SELECT statements can be run', 'not_select')
      case 'RangeTableSample':
        throw notDeterministicInQuery('TABLESAMPLE')
      case 'SQLValueFunction':
        throw notDeterministicInQuery(presentTime(node['op']))
      case 'FuncCall':
        return checkCall(node, notDeterministicInQuery)
      case 'A_Const': {
        const { sval } = node
        const text = isJsonObject(sval ?? null) ? (sval as JsonObject)['sval'] : undefined
        const present = presentIn(text ?? null)
        if (present !== null) this.#present ??= shown(present)
      }
    }
  }

  #column(path: readonly (string | null)[]): void {
    const name = path.at(-1)
    if (name === null || name === undefined) {
      this.#readsAll = true
      return
    }
    this.#named(name)
    if (path.length === 1) this.#alone.add(name)
  }

  #named(name: string): void {
    this.#columns.add(name)
    const type = this.#types.get(name)
    this.#hasDates ||= type === 'date' || type === 'timestamp'
  }

  #table(node: JsonObject): void {
    const { relname, schemaname } = node
    if (typeof relname === 'string') this.#sources.add(relname)
    if (schemaname !== undefined)
      throw new QueryError('write the name of the table alone: the only one is "records"', 'unknown_table')
    if (relname !== VIEW) return
    this.#readsRecords = true
    const { alias } = node
    if (!isJsonObject(alias ?? null)) return
    const { aliasname, colnames } = alias as JsonObject
    if (typeof aliasname === 'string') this.#tables.add(aliasname)
    // Columns have other names then.
    if (colnames !== undefined) this.#readsAll = true
  }
}

/** Returns the names of the columns of a SELECT; null where only the database knows them. Throws QueryError. */
function columnsOf(select: JsonObject): readonly string[] | null {
  const { targetList, larg } = select
  if (isJsonObject(larg ?? null)) return columnsOf(larg as JsonObject)
  if (!Array.isArray(targetList)) return null
  const names = (targetList as readonly JsonValue[]).map(columnName)
  if (names.some((name) => name === null)) return null
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) !== index)
  if (typeof twice === 'string') throw duplicateColumn(shown(twice))
  return names as string[]
}

/** Returns the name of a column: empty for one that PostgreSQL makes up, null for an asterisk. */
function columnName(target: JsonValue): string | null {
  const result = isJsonObject(target) ? target['ResTarget'] : undefined
  if (!isJsonObject(result ?? null)) return ''
  const { name, val } = result as JsonObject
  if (typeof name === 'string') return name
  if (!isJsonObject(val ?? null)) return ''
  const [[type, node] = []] = Object.entries(val as JsonObject)
  if (!isJsonObject(node ?? null)) return ''
  const value = node as JsonObject
  if (type === 'ColumnRef') return namesOf(value['fields']).at(-1) ?? null
  if (type === 'FuncCall') return namesOf(value['funcname']).at(-1) ?? ''
  if (type === 'A_Indirection') return null
  return ''
}
