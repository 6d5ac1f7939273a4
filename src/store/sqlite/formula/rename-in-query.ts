import { QueryError } from '../../../errors/service-error.ts'
import { queryRenamer, type PlacesToCheck, type QueryToken } from '../../rules/sql/rename-in-query.ts'
import { editText } from '../../../contract/yaml/edit/yaml-edit.ts'
import { readQuery } from '../sql/query-table.ts'
import { ALLOWED_TABLE_FUNCTIONS } from '../sql/sql-functions.ts'
import { nameOf, sqlTokens } from '../sql/sql-lexer.ts'

/** The columns of the tables that `json_each` and `json_tree` make. */
const JSON_COLUMNS = new Set([
  'key',
  'value',
  'type',
  'atom',
  'id',
  'parent',
  'fullkey',
  'path',
  'json',
  'root',
])

/** Edits queries of derivations for SQLite. */
export const renameInQuery = queryRenamer({ read: readQuery, tokens: tokensOf, fold, checkPlaces })

function tokensOf(statement: string): readonly QueryToken[] {
  return sqlTokens(statement)
    .filter(({ kind }) => kind !== 'space' && kind !== 'comment')
    .map((token) => ({
      text: token.text,
      start: token.start,
      name: token.kind === 'string' ? null : nameOf(token),
      isPlaceholder: token.kind === 'placeholder',
    }))
}

/** SQLite folds only ASCII letters in names. */
function fold(name: string): string {
  return name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function checkPlaces(statement: string, { from, to, listed, fields, places }: PlacesToCheck): void {
  const tokens = tokensOf(statement)
  const callsTable = tokens.some(({ name }) => name !== null && ALLOWED_TABLE_FUNCTIONS.has(name))
  const isJson = JSON_COLUMNS.has(fold(from)) || JSON_COLUMNS.has(fold(to))
  if (callsTable && isJson) throw new QueryError('the name is that of a column of json_each too')
  const starts = new Set(places.map(({ start }) => start))
  for (const [index, token] of tokens.entries()) {
    if (starts.has(token.start) && isTypeOrCollation(tokens, index)) {
      throw new QueryError(`${token.text} is a type or a collation there`)
    }
  }
  // In quotes a word is a name, and no keyword.
  const quoted = editText(
    statement,
    places.map(({ start, text }) => ({ start, end: start + text.length, text: `"${from}"` })),
  )
  try {
    readQuery(quoted, { listed, fields })
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    throw new QueryError(`${from} is a keyword there`)
  }
}

/** Whether a token is what follows AS in a CAST, or COLLATE. */
function isTypeOrCollation(tokens: readonly QueryToken[], index: number): boolean {
  const before = tokens[index - 1]?.name
  if (before === 'collate') return true
  if (before !== 'as') return false
  let depth = 0
  for (let at = index - 1; at > 0; at -= 1) {
    const text = tokens[at]?.text
    if (text === ')') depth += 1
    if (text !== '(') continue
    if (depth === 0) return tokens[at - 1]?.name === 'cast'
    depth -= 1
  }
  return false
}
