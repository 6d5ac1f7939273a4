import { QueryError } from '../../../errors/service-error.ts'
import {
  checkFormulaLength,
  checkPlaceholders,
  checkQueryLength,
  checkSqlLength,
  checkVerb,
  commentAtEnd,
  emptySql,
  namedPlaceholder,
  placeholderFields,
  placeholderIn,
  reservedName,
  secondStatement,
  semicolonIn,
  type SqlKind,
} from '../../rules/sql/sql-errors.ts'
import { columnType } from '../database/schema.ts'
import type { TypedField } from '../database/columns.ts'
import { shown } from './sql-errors.ts'
import {
  ALLOWED_FUNCTIONS,
  PLAIN_WORDS,
  REFUSED_TYPES,
  REVEALING_WORDS,
  WORDS_BEFORE_BRACKETS,
} from './sql-functions.ts'
import { isSignificant, nameOf, sqlTokens, wordOf, type SqlToken } from './sql-lexer.ts'
import { MAX_NAME_BYTES, MAX_TABLES, MAX_TOKENS } from './sql-limits.ts'

/** Text from a user that passed the checks. */
export interface CheckedSql {
  /** The text to send: without a trailing `;`, and with `$1`, `$2` and so on for `?`. */
  readonly text: string
  readonly names: SqlNames
}

/** The names in a text whose meaning only the database knows, in small letters unless quoted. */
export interface SqlNames {
  /** Names that could be tables. */
  readonly tables: ReadonlySet<string>
  /** Names that are called or have a list of columns, without the allowed functions. */
  readonly functions: ReadonlySet<string>
  /** Names before a dot. */
  readonly qualifiers: ReadonlySet<string>
  /** Names after a dot that are not fields: after a record, such a name may be a function as well as a column. */
  readonly members: ReadonlySet<string>
  /** All names, including fields. */
  readonly all: ReadonlySet<string>
}

const VIEW = 'records'

/** Keywords that begin another clause of a SELECT. All are reserved in PostgreSQL, so no field can have one as its name. */
const CLAUSES: ReadonlySet<string> = new Set(
  'SELECT WHERE GROUP HAVING ORDER LIMIT OFFSET FETCH FOR WINDOW UNION EXCEPT INTERSECT INTO'.split(' '),
)

/** Checks a statement before the database sees it (D18). `fields` are the contract's. Throws QueryError. */
export function checkStatement(sql: string, parameters: number, fields: ReadonlySet<string>): CheckedSql {
  const tokens = tokensOf(sql, 'statement')
  const significant = tokens.filter(isSignificant)
  checkTokens(significant, 'statement')
  const [first] = significant
  if (first === undefined) throw emptySql('statement')
  const semicolon = significant.find(({ kind }) => kind === 'semicolon')
  if (semicolon !== undefined && semicolon !== significant.at(-1)) throw secondStatement()
  checkVerb(shown(mainVerb(significant) || first.text))
  const placeholders = significant.filter(({ kind }) => kind === 'placeholder').length
  checkPlaceholders(placeholders, parameters)
  checkTables(significant)
  return { text: numbered(tokens, semicolon), names: namesIn(significant, fields) }
}

/** A query of a derivation that passed the checks. */
export interface CheckedRecordsQuery extends CheckedSql {
  /** The names of the fields whose values the placeholders of the text have: `$1` the first, and so on. */
  readonly inputs: readonly string[]
  /** Returns the text with another term for the value of each field of the record. */
  textWith(term: (field: string) => string): string
}

/** Checks a query of a derivation before the database sees it, and numbers and types its placeholders. Throws QueryError. */
export function checkRecordsQuery(
  sql: string,
  of: { readonly listed: readonly string[]; readonly fields: readonly TypedField[] },
): CheckedRecordsQuery {
  checkQueryLength(sql)
  const tokens = queryTokens(sql)
  const significant = tokens.filter(isSignificant)
  const placeholders = significant.filter(({ kind }) => kind === 'placeholder')
  const fields = placeholderFields(
    placeholders.map(({ text }) => text),
    of,
  )
  checkTokens(
    significant.map((token) => (token.kind === 'placeholder' ? { ...token, text: '?' } : token)),
    'statement',
  )
  const [first] = significant
  if (first === undefined) throw emptySql('statement')
  const semicolon = significant.find(({ kind }) => kind === 'semicolon')
  if (semicolon !== undefined && semicolon !== significant.at(-1)) throw secondStatement()
  const verb = mainVerb(significant) || first.text
  if (verb !== 'VALUES') checkVerb(shown(verb))
  checkTables(significant)
  const inputs = [...new Set(fields)]
  const typeOf = (name: string): string => {
    const field = of.fields.find((each) => each.name === name)
    return field === undefined ? 'text' : columnType(field)
  }
  const textWith = (term: (field: string) => string): string => {
    let next = 0
    let text = ''
    for (const token of tokens) {
      if (token === semicolon) break
      text += token.kind === 'placeholder' ? ` (${term(fields[next++] ?? '')}) ` : token.text
    }
    return text
  }
  const text = textWith((name) => `$${inputs.indexOf(name) + 1}::${typeOf(name)}`)
  return {
    text,
    inputs,
    textWith,
    names: namesIn(significant, new Set(of.fields.map((field) => field.name))),
  }
}

/** Returns the tokens of a query of a derivation. Throws QueryError for a text that is too long. */
export function queryTokens(sql: string): readonly SqlToken[] {
  return withNamedPlaceholders(tokensOf(sql, 'statement'))
}

/** Joins a colon and the word after it to a placeholder, apart from the second colon of a cast. */
function withNamedPlaceholders(tokens: readonly SqlToken[]): readonly SqlToken[] {
  const joined: SqlToken[] = []
  for (const token of tokens) {
    const before = joined.at(-1)
    const isColon = before?.kind === 'operator' && before.text === ':'
    const isCast = isColon && joined.at(-2)?.text === ':' && joined.at(-2)?.start === before.start - 1
    if (token.kind === 'word' && isColon && !isCast && token.start === before.start + 1) {
      joined.pop()
      joined.push({ kind: 'placeholder', text: `:${token.text}`, start: before.start })
    } else joined.push(token)
  }
  return joined
}

/** Checks that a filter is one expression, as far as that is possible without its types (D16). Throws QueryError. */
export function checkFilter(filter: string, fields: ReadonlySet<string>): CheckedSql {
  return checkExpression(filter, 'filter', fields)
}

/** Checks that a formula is one expression, as {@link checkFilter}. Throws QueryError. */
export function checkFormula(expression: string, fields: ReadonlySet<string>): CheckedSql {
  checkFormulaLength(expression)
  return checkExpression(expression, 'formula', fields)
}

function checkExpression(text: string, what: 'filter' | 'formula', fields: ReadonlySet<string>): CheckedSql {
  const tokens = tokensOf(text, what)
  const significant = tokens.filter(isSignificant)
  checkTokens(significant, what)
  const [first] = significant
  if (first === undefined) throw emptySql(what)
  if (significant.some(({ kind }) => kind === 'semicolon')) throw semicolonIn(what)
  if (significant.some(({ kind }) => kind === 'placeholder')) throw placeholderIn(what, '?')
  if (tokens.at(-1)?.kind === 'comment' && tokens.at(-1)?.text.startsWith('--') === true)
    throw commentAtEnd(what)
  checkOneExpression(significant, first, what)
  checkTables(significant)
  return { text, names: namesIn(significant, fields) }
}

/** Throws QueryError for a text that is longer than SQL from a user may be. */
function tokensOf(text: string, what: SqlKind): readonly SqlToken[] {
  checkSqlLength(text, what)
  const tokens = sqlTokens(text, MAX_TOKENS + 1)
  if (tokens.length > MAX_TOKENS) {
    throw new QueryError(
      `the ${what} is too long: it has more than ${MAX_TOKENS} words, numbers and marks`,
      'query_too_long',
    )
  }
  return tokens
}

/**
 * Checks that a text within `WHERE (…)` is one expression: it never closes a bracket that it did not open, and is not a
 * SELECT, which begins with its own keyword or has a clause after a bracket.
 */
function checkOneExpression(tokens: readonly SqlToken[], first: SqlToken, what: SqlKind): void {
  if (/^(?:SELECT|WITH|VALUES|TABLE)$/.test(wordOf(first))) {
    throw new QueryError(`the ${what} cannot be used: it is not one expression but a ${wordOf(first)}`)
  }
  const open: string[] = []
  for (const token of tokens) {
    const { kind, text } = token
    if (kind === 'operator' && (text === '(' || text === '[')) open.push(text === '(' ? ')' : ']')
    const closes = kind === 'operator' && (text === ')' || text === ']')
    if ((closes && open.pop() !== text) || (open.length === 0 && CLAUSES.has(wordOf(token)))) {
      throw new QueryError(`the ${what} cannot be used: syntax error at or near "${shown(text)}"`)
    }
  }
  if (open.length > 0) throw new QueryError(`the ${what} cannot be used: a bracket is never closed`)
}

function checkTokens(tokens: readonly SqlToken[], what: string): void {
  for (const [index, token] of tokens.entries()) {
    const { kind, text } = token
    if (kind === 'illegal' || kind === 'unterminated') throw new QueryError(`the ${what} ${fault(token)}`)
    if (kind === 'placeholder' && text !== '?') throw namedPlaceholder(shown(text))
    if (wordOf(token) === 'FOR' && /^(?:UPDATE|SHARE|NO|KEY)$/.test(wordOf(tokens[index + 1]))) {
      throw new QueryError('only SELECT statements can be run: they cannot lock records', 'not_select')
    }
    const name = nameOf(token)
    if (name !== null) checkName(name, { what, token, next: tokens[index + 1] })
  }
}

interface NamePlace {
  readonly what: string
  readonly token: SqlToken
  readonly next: SqlToken | undefined
}

function checkName(name: string, { what, token, next }: NamePlace): void {
  // Names of the store's internals, and of temporary schemas.
  if (/^_*\$[A-Za-z0-9_]|^pg_(?:toast_)?temp/i.test(name)) throw reservedName(what)
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw new QueryError(
      `a name in the ${what} is longer than ${MAX_NAME_BYTES} bytes: ${shown(name)} cannot be used`,
      'query_too_long',
    )
  }
  if (REFUSED_TYPES.has(name))
    throw new QueryError(`the name ${shown(name)} cannot be used`, 'forbidden_function')
  if (token.kind === 'word' && REVEALING_WORDS.has(name)) {
    const hint = next?.text === '(' ? '' : `; of a field of that name write "${name}"`
    throw new QueryError(`the function ${name} cannot be used${hint}`, 'forbidden_function')
  }
}

function fault(token: SqlToken): string {
  const { kind, text } = token
  if (text.includes('\0')) return 'has a NUL character (U+0000)'
  if (kind === 'unterminated') {
    return `has a ${text.startsWith('/*') ? 'comment' : 'quote'} that is never closed: ${shown(text)}`
  }
  if (text.startsWith('$')) {
    return 'has a $ that cannot be used: params are positional, write ?, and texts go in single quotes'
  }
  return `has something that cannot be used: ${shown(text)}`
}

/** Returns the keyword of the statement's action: after WITH, the first such keyword outside brackets. */
function mainVerb(tokens: readonly SqlToken[]): string {
  const first = wordOf(tokens[0])
  if (first !== 'WITH') return first
  const verb = /^(?:SELECT|VALUES|TABLE|INSERT|UPDATE|DELETE|MERGE)$/
  let depth = 0
  for (const token of tokens) {
    if (token.text === ')') depth -= 1
    if (depth === 0 && verb.test(wordOf(token))) return wordOf(token)
    if (token.text === '(') depth += 1
  }
  return 'SELECT'
}

function checkTables(tokens: readonly SqlToken[]): void {
  let tables = 0
  /** For each open bracket: whether a comma in it separates tables. */
  const inFrom: boolean[] = []
  for (const [index, token] of tokens.entries()) {
    const word = wordOf(token)
    if (token.text === '(') inFrom.push(false)
    else if (token.text === ')') inFrom.pop()
    else if (word === 'FROM' && wordOf(tokens[index - 1]) !== 'DISTINCT') {
      tables += 1
      inFrom[Math.max(0, inFrom.length - 1)] = true
    } else if (word === 'JOIN' || (token.text === ',' && inFrom.at(-1) === true)) tables += 1
    else if (CLAUSES.has(word)) inFrom[Math.max(0, inFrom.length - 1)] = false
  }
  if (tables > MAX_TABLES)
    throw new QueryError(
      `the statement names more than ${MAX_TABLES} tables in FROM and JOIN`,
      'query_too_long',
    )
}

/** Returns the text up to its semicolon, with its placeholders numbered. */
function numbered(tokens: readonly SqlToken[], semicolon: SqlToken | undefined): string {
  let number = 0
  let text = ''
  for (const token of tokens) {
    if (token === semicolon) break
    // Spaces keep adjacent characters from becoming part of the number.
    text += token.kind === 'placeholder' ? ` $${(number += 1)} ` : token.text
  }
  return text
}

function namesIn(tokens: readonly SqlToken[], fields: ReadonlySet<string>): SqlNames {
  const names = {
    tables: new Set<string>(),
    functions: new Set<string>(),
    qualifiers: new Set<string>(),
    members: new Set<string>(),
    all: new Set<string>(),
  }
  for (const [index, token] of tokens.entries()) {
    const name = nameOf(token)
    if (name === null) continue
    const next = tokens[index + 1]?.text
    const unquoted = token.kind === 'word'
    names.all.add(name)
    if (next === '.' && name !== VIEW) names.qualifiers.add(name)
    if (tokens[index - 1]?.text === '.' && !fields.has(name) && !ALLOWED_FUNCTIONS.has(name))
      names.members.add(name)
    if (next === '(') {
      if (ALLOWED_FUNCTIONS.has(name) || (unquoted && WORDS_BEFORE_BRACKETS.has(name))) continue
      names.functions.add(name)
    }
    // Only these names of fields can also be tables of PostgreSQL.
    const harmless = fields.has(name) ? !name.startsWith('pg_') : unquoted && PLAIN_WORDS.has(name)
    if (name !== VIEW && !harmless) names.tables.add(name)
  }
  return names
}
