import type { JsonObject } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { shown } from '../sql/sql-errors.ts'
import { ALLOWED_FUNCTIONS, VOLATILE_FUNCTIONS } from '../sql/sql-functions.ts'
import { namesOf } from './syntax-tree.ts'

/** Returns the name of the function of a call. */
export function functionOf(node: JsonObject): string {
  return namesOf(node['funcname']).at(-1) ?? ''
}

/**
 * Checks that a call is of an allowed function with the same result at all times. Throws QueryError: for another result that of
 * `notDeterministic`, with the function.
 */
export function checkCall(node: JsonObject, notDeterministic: (what: string) => QueryError): void {
  const name = functionOf(node)
  const { args } = node
  if (node['funcformat'] !== 'COERCE_SQL_SYNTAX' && !ALLOWED_FUNCTIONS.has(name)) {
    throw new QueryError(
      `the function ${shown(name)}() does not exist or cannot be used`,
      'forbidden_function',
    )
  }
  if (VOLATILE_FUNCTIONS.has(name)) throw notDeterministic(`${name}()`)
  if (name === 'age' && Array.isArray(args) && args.length === 1) throw notDeterministic('age() of one time')
}
