import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { QueryRenamer } from '../../formula.ts'
import { queryRenamer, type PlacesToCheck, type QueryToken } from '../../rules/sql/rename-in-query.ts'
import { checkRecordsQuery, queryTokens } from '../sql/sql-checks.ts'
import { isSignificant, nameOf } from '../sql/sql-lexer.ts'
import { functionOf } from './function-calls.ts'
import { queryReader } from './read-query.ts'
import { MAX_DEPTH, namesOf, parseSql, tooDeepQuery, type Parse } from './syntax-tree.ts'

/** The columns that functions in FROM make where the query does not name them. */
const MADE_COLUMNS = /^(?:key|value|ordinality)$/

/** Returns how queries of derivations are edited for PostgreSQL. */
export function queryRenamerOf(parse: Parse): QueryRenamer {
  return queryRenamer({
    read: queryReader(parse),
    tokens: tokensOf,
    fold: (name) => name,
    checkPlaces(statement, { from, to, listed, fields, places }: PlacesToCheck) {
      const { text } = checkRecordsQuery(statement, { listed, fields })
      const found = new Names()
      found.add(parseSql(parse, text))
      if (found.makesColumn(from) || found.makesColumn(to))
        throw new QueryError('the name is that of a column of a function in FROM too')
      if (found.hasRows)
        throw new QueryError('the query has whole rows as values, whose members have that name')
      if ((found.counts.get(from) ?? 0) !== places.length) {
        throw new QueryError(`${from} is not always the name of a column there`)
      }
    },
  })
}

function tokensOf(statement: string): readonly QueryToken[] {
  return queryTokens(statement)
    .filter(isSignificant)
    .map((token) => ({
      text: token.text,
      start: token.start,
      name: nameOf(token),
      isPlaceholder: token.kind === 'placeholder',
    }))
}

/** Counts the names of columns, tables and windows in a syntax tree, whose nodes are objects of one member that names their type. */
class Names {
  readonly counts = new Map<string, number>()
  #makesRows = false
  readonly #functions = new Set<string>()
  /** Names that are written alone, and those of tables, which are rows there. */
  readonly #alone = new Set<string>()
  readonly #tables = new Set<string>()
  #expandsRow = false

  /** Whether a function in FROM may make a column of this name. */
  makesColumn(name: string): boolean {
    return this.#makesRows && (MADE_COLUMNS.test(name) || this.#functions.has(name))
  }

  /** Whether values are made of whole rows. */
  get hasRows(): boolean {
    return this.#expandsRow || !this.#alone.isDisjointFrom(this.#tables)
  }

  add(node: JsonValue | undefined, parent = '', depth = 0): void {
    if (depth > MAX_DEPTH) throw tooDeepQuery()
    if (Array.isArray(node)) {
      for (const item of node as readonly JsonValue[]) this.add(item, parent, depth + 1)
      return
    }
    if (!isJsonObject(node ?? null)) return
    for (const [type, value] of Object.entries(node as JsonObject)) {
      if (isJsonObject(value)) this.#count(type, value, parent)
      const isNode = /^[A-Z]/.test(type)
      this.add(value, isNode ? type : parent, depth + 1)
    }
  }

  #count(type: string, node: JsonObject, parent: string): void {
    switch (type) {
      case 'ColumnRef': {
        const path = namesOf(node['fields'])
        this.#names(path)
        const [first] = path
        if (path.length === 1 && typeof first === 'string') this.#alone.add(first)
        if (path.at(-1) === null && parent !== 'ResTarget') this.#expandsRow = true
        return
      }
      case 'ResTarget':
        return this.#names([node['name']])
      case 'RangeVar':
        this.#table(node['relname'])
        return this.#names([node['relname']])
      case 'RangeFunction':
      case 'RangeTableFunc':
      case 'JsonTable':
        this.#makesRows = true
        return
      case 'FuncCall':
        this.#functions.add(functionOf(node))
        return
      case 'alias':
      case 'join_using_alias':
        this.#table(node['aliasname'])
        return this.#names([node['aliasname'], ...namesOf(node['colnames'])])
      case 'CommonTableExpr':
        this.#table(node['ctename'])
        return this.#names([node['ctename'], ...namesOf(node['aliascolnames'])])
      case 'JoinExpr':
        return this.#names(namesOf(node['usingClause']))
      case 'WindowDef':
      case 'over':
        return this.#names([node['name'], node['refname']])
    }
  }

  #table(name: JsonValue | undefined): void {
    if (typeof name === 'string') this.#tables.add(name)
  }

  #names(names: readonly (JsonValue | undefined)[]): void {
    for (const name of names)
      if (typeof name === 'string') this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }
}
