import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { QueryError } from '../../../errors/service-error.ts'
import { editText, type TextEdit } from '../../../contract/yaml/edit/yaml-edit.ts'
import type { FieldRename, FormulaField } from '../../formula.ts'
import { aggregateInFormula, notDeterministic, subqueryInFormula } from '../../rules/sql/sql-errors.ts'
import { checkFormula } from '../sql/sql-checks.ts'
import { shown } from '../sql/sql-errors.ts'
import { ROW_FUNCTIONS } from '../sql/sql-functions.ts'
import { checkCall, functionOf } from './function-calls.ts'
import { presentIn } from './present-time.ts'
import {
  loadParser,
  makesDate,
  MAX_DEPTH,
  namesOf,
  parseSql,
  presentTime,
  type Parse,
} from './syntax-tree.ts'

/** The text before an expression that makes it a statement. */
const PREFIX = 'SELECT ('

/** The facts about a formula that its syntax tree has. */
export interface FormulaFacts {
  /** The names of the fields that it reads. */
  readonly names: ReadonlySet<string>
  /** The names of the fields whose values it may convert to dates or times. */
  readonly dateTexts: ReadonlySet<string>
}

/** Reads formulas with the parser of PostgreSQL, without a server; types are checked where formulas are computed. */
export class FormulaParser {
  /** The parser of PostgreSQL. */
  readonly parse: Parse

  private constructor(parse: Parse) {
    this.parse = parse
  }

  static async load(): Promise<FormulaParser> {
    return new FormulaParser(await loadParser())
  }

  /** Checks a formula, and returns what it reads. Throws QueryError. */
  facts(expression: string, fields: readonly FormulaField[]): FormulaFacts {
    checkFormula(expression, new Set(fields.map(({ name }) => name)))
    try {
      const facts = new Facts(fields)
      facts.add(this.#expression(expression))
      return facts.checked()
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw tooDeep()
    }
  }

  /** Returns the names of the fields that a formula reads; see {@link FormulaReader}. */
  names(expression: string, fields: readonly FormulaField[]): readonly string[] {
    const { names } = this.facts(expression, fields)
    return fields.flatMap(({ name }) => (names.has(name) ? [name] : []))
  }

  /** Returns the edits of a formula for another name of a field; see {@link FormulaRenamer}. */
  rename(
    expression: string,
    fields: readonly FormulaField[],
    { from, to }: FieldRename,
  ): readonly TextEdit[] {
    this.facts(expression, fields)
    const places = columnPlaces(expression, this.#expression(expression), from)
    const renamed = fields.map((field) => (field.name === from ? { ...field, name: to } : field))
    // PostgreSQL reads a name without quotes in small letters, and keywords not as names.
    for (const text of [to, `"${to}"`]) {
      const edits = places.map(({ start, end }) => ({ start, end, text }))
      if (places.length === 0 || this.#reads(editText(expression, edits), renamed, to)) return edits
    }
    throw new QueryError('the formula cannot be edited')
  }

  #reads(expression: string, fields: readonly FormulaField[], name: string): boolean {
    try {
      return this.names(expression, fields).includes(name)
    } catch (error) {
      if (error instanceof QueryError) return false
      throw error
    }
  }

  /** Returns the syntax tree of an expression. */
  #expression(expression: string): JsonValue {
    const tree = parseSql(this.parse, `${PREFIX}${expression}\n)`) as {
      readonly stmts?: readonly { readonly stmt?: { readonly SelectStmt?: JsonObject } }[]
    }
    const [statement, ...others] = tree.stmts ?? []
    const { targetList = [], limitOption, op, ...clauses } = statement?.stmt?.SelectStmt ?? {}
    const isPlain = limitOption === 'LIMIT_OPTION_DEFAULT' && op === 'SETOP_NONE'
    const [target, ...more] = Array.isArray(targetList) ? (targetList as readonly JsonValue[]) : []
    if (others.length + more.length + Object.keys(clauses).length > 0 || !isPlain || target === undefined) {
      throw new QueryError('the formula is not one expression')
    }
    return target
  }
}

/** Returns where the names of a column are in an expression, in the order of the text. */
function columnPlaces(expression: string, tree: JsonValue, name: string): readonly Omit<TextEdit, 'text'>[] {
  const bytes = Buffer.from(PREFIX + expression)
  const places: Omit<TextEdit, 'text'>[] = []
  const visit = (node: JsonValue | undefined): void => {
    if (typeof node !== 'object' || node === null) return
    if (!isJsonObject(node)) return node.forEach(visit)
    const column = node['ColumnRef'] ?? null
    if (isJsonObject(column) && namesOf(column['fields'])[0] === name) {
      // Positions are bytes, and absent for 0.
      const location = Number(column['location'] ?? 0)
      const start = bytes.subarray(0, location).toString().length - PREFIX.length
      const [written] = /^(?:"(?:[^"]|"")*"|[\w$\u0080-\uFFFF]+)/.exec(expression.slice(start)) ?? []
      if (start < 0 || written === undefined) throw new QueryError('the formula cannot be edited')
      places.push({ start, end: start + written.length })
    }
    Object.values(node).forEach(visit)
  }
  visit(tree)
  return places.toSorted((a, b) => a.start - b.start)
}

/** Collects facts from a syntax tree, whose nodes are objects of one member that names their type. */
class Facts {
  readonly #fields: readonly FormulaField[]
  readonly #names = new Set<string>()
  readonly #dateTexts = new Set<string>()
  /** Whether there are dates or times, to which PostgreSQL converts the texts beside them. */
  #hasDates = false
  #present: string | null = null

  constructor(fields: readonly FormulaField[]) {
    this.#fields = fields
  }

  /**
   * Adds a node and those below it, where `inDate` if one above it may convert texts to dates or times. Throws QueryError for what a formula
   * cannot have.
   */
  add(node: JsonValue | undefined, inDate = false, depth = 0): void {
    if (depth > MAX_DEPTH) throw tooDeep()
    if (Array.isArray(node)) {
      for (const item of node as readonly JsonValue[]) this.add(item, inDate, depth + 1)
      return
    }
    if (!isJsonObject(node ?? null)) return
    for (const [type, value] of Object.entries(node as JsonObject)) {
      const isDate = isJsonObject(value) && makesDate(type, value)
      this.#hasDates ||= isDate
      if (isJsonObject(value)) this.#check(type, value, inDate || isDate)
      this.add(value, inDate || isDate, depth + 1)
    }
  }

  checked(): FormulaFacts {
    if (this.#hasDates && this.#present !== null) throw notDeterministic(`'${this.#present}'`)
    return { names: this.#names, dateTexts: this.#dateTexts }
  }

  #check(type: string, node: JsonObject, inDate: boolean): void {
    switch (type) {
      case 'ColumnRef':
        return this.#column(namesOf(node['fields']), inDate)
      case 'SubLink':
        throw subqueryInFormula()
      case 'SQLValueFunction':
        throw notDeterministic(presentTime(node['op']))
      case 'FuncCall':
        return this.#call(node)
      case 'A_Const': {
        const { sval } = node
        const text = isJsonObject(sval ?? null) ? (sval as JsonObject)['sval'] : undefined
        const present = presentIn(text ?? null)
        if (present !== null) this.#present ??= shown(present)
      }
    }
  }

  #column(path: readonly (string | null)[], inDate: boolean): void {
    const [name, ...more] = path
    if (more.length > 0 || typeof name !== 'string')
      throw new QueryError('write the name of a field alone, without a table')
    const field = this.#fields.find((each) => each.name === name)
    if (field === undefined) throw new QueryError(`column "${shown(name)}" does not exist`)
    this.#names.add(name)
    if (inDate) this.#dateTexts.add(name)
    this.#hasDates ||= field.type === 'date' || field.type === 'timestamp'
  }

  #call(node: JsonObject): void {
    checkCall(node, notDeterministic)
    const isOverRows = [
      'over',
      'agg_star',
      'agg_order',
      'agg_filter',
      'agg_distinct',
      'agg_within_group',
    ].some((member) => Object.hasOwn(node, member))
    if (isOverRows || ROW_FUNCTIONS.has(functionOf(node))) throw aggregateInFormula()
  }
}

function tooDeep(): QueryError {
  return new QueryError('the formula is nested too deeply', 'query_too_long')
}
