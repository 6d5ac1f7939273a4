import { editText, type TextEdit } from '../../../contract/yaml/edit/yaml-edit.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { FieldRename, FormulaField, QueryFacts, QueryReader, QueryRenamer } from '../../formula.ts'

/** The name of a column that is written in the query: SQLite calls others like their expressions, whose text changes. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** A token of a statement. */
export interface QueryToken {
  readonly text: string
  /** Offset in the statement, in UTF-16 units. */
  readonly start: number
  /** The name that it can be, as the engine compares names; null for any other token. */
  readonly name: string | null
  readonly isPlaceholder: boolean
}

/** The parts of an engine that the rename of a field in a query needs. */
export interface RenamingEngine {
  readonly read: QueryReader
  /** Returns the tokens of a statement, without white space and comments. */
  tokens(statement: string): readonly QueryToken[]
  /** Returns a name as the engine compares names. */
  fold(name: string): string
  /**
   * Throws QueryError where one of the tokens of a name may be something else than the name of a column, table or window of the statement:
   * a keyword, a type, or a column that a function defines.
   */
  checkPlaces(statement: string, of: PlacesToCheck): void
}

/** The places at which a statement names a field. */
export interface PlacesToCheck extends FieldRename {
  readonly listed: readonly string[]
  readonly fields: readonly FormulaField[]
  readonly places: readonly QueryToken[]
}

/**
 * Returns how an engine gives a field another name in queries: every column, alias and common table expression of that name has the new
 * name then, which the query must not have yet, so that each of them still is what it was. See {@link QueryRenamer}.
 */
export function queryRenamer(engine: RenamingEngine): QueryRenamer {
  return (statement, { listed, fields }, { from, to }) => {
    const before = engine.read(statement, { listed, fields })
    const tokens = engine.tokens(statement)
    const [old, fresh] = [engine.fold(from), engine.fold(to)]
    const named = (name: string): readonly QueryToken[] =>
      tokens.filter((token, index) => token.name === name && tokens[index + 1]?.text !== '(')
    const places = named(old)
    if (places.length > 0 && old !== fresh && named(fresh).length > 0) {
      throw new QueryError(`the query has the name ${to} already`)
    }
    if (places.length > 0) engine.checkPlaces(statement, { from, to, listed, fields, places })
    const inputs = tokens.filter(({ isPlaceholder, text }) => isPlaceholder && text === `:${from}`)
    const rename = (name: string): string => (engine.fold(name) === old ? to : name)
    const renamed = {
      listed: listed.map(rename),
      fields: fields.map((field) => ({ ...field, name: rename(field.name) })),
    }
    const expected = renamedFacts(before, rename)
    // A keyword needs quotes.
    for (const written of [to, `"${to}"`]) {
      const edits = [
        ...places.map((token) => editOf(token, written)),
        ...inputs.map((token) => editOf(token, `:${to}`)),
      ].toSorted((a, b) => a.start - b.start)
      if (edits.length === 0) return edits
      const after = factsOf(engine, editText(statement, edits), renamed)
      if (after !== null && sameFacts(after, expected, engine)) return edits
    }
    throw new QueryError('the query cannot be edited')
  }
}

function editOf({ start, text }: QueryToken, written: string): TextEdit {
  return { start, end: start + text.length, text: written }
}

function factsOf(engine: RenamingEngine, ...args: Parameters<QueryReader>): QueryFacts | null {
  try {
    return engine.read(...args)
  } catch (error) {
    if (error instanceof QueryError) return null
    throw error
  }
}

function renamedFacts({ inputs, reads, columns }: QueryFacts, rename: (name: string) => string): QueryFacts {
  return {
    inputs: inputs.map(rename),
    reads: reads.map(rename),
    columns: columns?.map(rename) ?? null,
  }
}

function sameFacts(one: QueryFacts, other: QueryFacts, { fold }: RenamingEngine): boolean {
  const text = ({ inputs, reads, columns }: QueryFacts): string =>
    JSON.stringify([
      inputs,
      reads.toSorted(),
      columns?.map((name) => (NAME.test(name) ? fold(name) : '')) ?? null,
    ])
  return text(one) === text(other)
}
