import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { shown } from '../sql/sql-errors.ts'

/** Functions that convert texts to dates or times. */
const DATE_FUNCTIONS = /date|time|age|^extract$|^to_char$|^isfinite$|^overlaps$/

/** Types of PostgreSQL, and their array types, that neither are dates or times nor contain any. */
const OTHER_TYPES =
  /^_?(?:text|varchar|bpchar|char|name|int[248]|float[48]|numeric|bool|bit|varbit|jsonb?|bytea|uuid|interval|(?:int[48]|num)(?:multi)?range)$/

/** Levels of the syntax tree, at most: about seven hundred operators in a row. */
export const MAX_DEPTH = 1500

export type Parse = (sql: string) => unknown

/** Returns the parser of PostgreSQL, which is a WebAssembly module. */
export async function loadParser(): Promise<Parse> {
  const { loadModule, parseSync } = await import('libpg-query')
  await loadModule()
  return parseSync
}

/** Returns the syntax tree of a text. Throws QueryError, and RangeError for one that is nested too deeply. */
export function parseSql(parse: Parse, sql: string): JsonObject {
  try {
    return parse(sql) as JsonObject
  } catch (error) {
    if (error instanceof RangeError || !(error instanceof Error)) throw error
    throw new QueryError(shown(error.message))
  }
}

/** Whether a node may convert texts to dates or times: a function, a cast, or a function of JSON that names the type of its result. */
export function makesDate(type: string, node: JsonObject): boolean {
  if (type === 'FuncCall') return DATE_FUNCTIONS.test(namesOf(node['funcname']).at(-1) ?? '')
  const { typeName = null, output = null } = node
  const named = isJsonObject(output) ? (output['typeName'] ?? null) : typeName
  if (!isJsonObject(named)) return false
  const names = namesOf(named['names'])
  const isOther = OTHER_TYPES.test(names.at(-1) ?? '') && (names.length === 1 || names[0] === 'pg_catalog')
  return !isOther
}

/** Returns the texts of a list of names; null for an asterisk. */
export function namesOf(list: JsonValue | undefined): readonly (string | null)[] {
  if (!Array.isArray(list)) return []
  return (list as readonly JsonValue[]).map((item) => {
    const text = isJsonObject(item) ? item['String'] : undefined
    const name = isJsonObject(text ?? null) ? (text as JsonObject)['sval'] : undefined
    return typeof name === 'string' ? name : null
  })
}

/** Returns the keyword of a node such as SVFOP_CURRENT_DATE. */
export function presentTime(op: JsonValue | undefined): string {
  return typeof op === 'string' ? op.replace('SVFOP_', '').toLowerCase() : 'the current time'
}

export function tooDeepQuery(): QueryError {
  return new QueryError('the query is nested too deeply', 'query_too_long')
}
