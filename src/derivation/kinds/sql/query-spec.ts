import { isJsonObject, type JsonObject } from '../../../contract/json/json.ts'
import { showNames } from '../../../contract/json/show-value.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { FormulaDialect, QueryFacts } from '../../../store/formula.ts'
import type { RecordsQuery } from '../../../store/records-query.ts'
import type { ParseContext } from '../../definition/derivation-kind.ts'

/** White space or one comment. Matched one at a time: repeated within one expression, it could match a text in exponentially many ways. */
const BLANK = /\s+|--[^\n]*\n|\/\*[^]*?\*\//y

/** A keyword with which no expression begins. */
const STATEMENT = /(?:SELECT|WITH|VALUES)\b/iy

/** Whether an expression is a statement over all records rather than a formula over one. Takes time in proportion to it. */
export function isStatement(expression: string): boolean {
  let start = 0
  do {
    BLANK.lastIndex = start
    start += BLANK.exec(expression)?.[0].length ?? 0
  } while (BLANK.lastIndex > 0)
  STATEMENT.lastIndex = start
  return STATEMENT.test(expression)
}

/** Reads a query; `outputSchema` is that of folio, of which only the keys count. Throws ContractError. */
export function parseQuery(
  statement: string,
  targets: readonly string[],
  {
    dialect,
    context,
    outputSchema,
  }: {
    readonly dialect: FormulaDialect
    readonly context: ParseContext
    readonly outputSchema: JsonObject[string] | undefined
  },
): RecordsQuery {
  const { fields, fieldByName } = context.contract
  const listed = context.inputs
  if (outputSchema !== undefined) checkSchema(outputSchema, targets, context)
  const { inputs, reads, columns } = factsOf(statement, { dialect, context, listed })
  if (columns !== null) checkColumns(columns, targets, context)
  const typed = (names: readonly string[]): RecordsQuery['reads'] =>
    names.flatMap((name) => {
      const field = fieldByName.get(name)
      return field === undefined ? [] : [{ name, type: field.type }]
    })
  const read = new Set(reads)
  return {
    statement,
    listed,
    inputs: typed(inputs),
    reads: fields.filter(({ name }) => read.has(name)).map(({ name, type }) => ({ name, type })),
    targets: typed(targets),
  }
}

function factsOf(
  statement: string,
  {
    dialect,
    context,
    listed,
  }: {
    readonly dialect: FormulaDialect
    readonly context: ParseContext
    readonly listed: readonly string[]
  },
): QueryFacts {
  try {
    return dialect.readQuery(statement, { listed, fields: context.contract.fields })
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    return context.fail(['expression'], `expression cannot be used: ${error.message}`)
  }
}

function checkColumns(columns: readonly string[], targets: readonly string[], context: ParseContext): void {
  if (targets.length === 1) {
    if (columns.length === 1 || columns.includes(targets[0] ?? '')) return
    context.fail(
      ['expression'],
      `the query has ${columns.length} columns; select one, or call one ${targets[0]} with AS`,
    )
  }
  const lacking = targets.filter((target) => !columns.includes(target))
  if (lacking.length === 0) return
  context.fail(
    ['expression'],
    `the query has no column ${showNames(lacking)}; several targets take the columns of their names, so call them so with AS`,
  )
}

function checkSchema(schema: JsonObject[string], targets: readonly string[], context: ParseContext): void {
  const isSame =
    isJsonObject(schema) && new Set(Object.keys(schema)).symmetricDifference(new Set(targets)).size === 0
  if (isSame) return
  context.fail(
    ['output_schema'],
    `output_schema must have the keys ${targets.join(', ')}, which are the targets`,
  )
}
