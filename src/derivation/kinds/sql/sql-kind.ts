import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import type { YamlEdit } from '../../../contract/yaml/edit/yaml-edit.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import type { Failure } from '../../../errors/failure.ts'
import type { FormulaDialect } from '../../../store/formula.ts'
import type {
  BatchContext,
  BatchItem,
  Computed,
  DerivationKind,
  InputValues,
  ParseContext,
  ParsedSpec,
  Plan,
  Planned,
  RecordsContext,
  RenameContext,
} from '../../definition/derivation-kind.ts'
import { renameInExpression, renameInKeys } from '../../definition/rename-edits.ts'
import type { QueryRow } from '../../../store/records-query.ts'
import { isStatement } from './query-spec.ts'
import { failOf, parseSql, type QuerySpec, type SqlSpec } from './sql-spec.ts'

type SqlPlan = FormulaPlan | QueryPlan

interface FormulaPlan extends Plan {
  /** The values of the inputs of the formula, in their order. */
  readonly row: readonly JsonValue[]
}

interface QueryPlan extends Plan {
  /** The row that the query returned; undefined if it was not run. */
  readonly found: QueryRow | undefined
}

/** The most characters of a formula in messages, and in the log, which has it for every value. */
const SHOWN = 60
const LOGGED = 500

/**
 * The kind `sql`: computes a field from others of the same record by a formula, or fields from all records by a query, in the SQL dialect of
 * the sheet's store. The input hash of a query covers the row that it returned, so that only cells are computed whose values change.
 */
export class SqlKind implements DerivationKind<SqlSpec, SqlPlan> {
  readonly name = 'sql'
  readonly isLocal = true
  readonly needsListedInputs = false
  readonly readsListedInputs = false
  readonly #dialect: FormulaDialect

  constructor(dialect: FormulaDialect) {
    this.#dialect = dialect
  }

  parse(file: JsonObject, targets: readonly string[], context: ParseContext): ParsedSpec<SqlSpec> {
    const spec = parseSql(file, targets, { dialect: this.#dialect, context })
    if ('query' in spec) {
      const { inputs, reads } = spec.query
      const names = (fields: typeof inputs): readonly string[] => fields.map(({ name }) => name)
      return { spec, usedFields: names(inputs), requiredFields: [], resources: [], reads: names(reads) }
    }
    const usedFields = spec.formula.inputs.map(({ name }) => name)
    // Formulas take null as SQL does.
    const { formula } = spec
    const formulas = [{ formula, fail: (message: string) => failOf(message, context) }]
    return { spec, usedFields, requiredFields: [], resources: [], formulas }
  }

  renameField(file: JsonObject, context: RenameContext): readonly YamlEdit[] {
    const { expression = null } = file
    const isQuery = typeof expression === 'string' && isStatement(expression)
    return [
      ...renameInExpression(expression, ['expression'], { dialect: this.#dialect, context, isQuery }),
      ...renameInKeys(file, 'output_schema', context),
    ]
  }

  prepare(): void {}

  async withRecords(
    spec: SqlSpec,
    inputs: readonly InputValues[],
    { queries, pass, signal }: RecordsContext,
  ): Promise<{ readonly spec: SqlSpec; readonly version: string | null }> {
    if (!('query' in spec)) return { spec, version: null }
    const rows = new Map(inputs.map((values) => [rowKey(spec.query, values), rowOf(spec.query, values)]))
    const keys = [...rows.keys()]
    const { version, rows: results } = await queries.compute(spec.query, [...rows.values()], pass, signal)
    return {
      version,
      spec: {
        ...spec,
        found: new Map(
          results.flatMap((result, index) => {
            const key = keys[index]
            return key === undefined ? [] : [[key, result] as const]
          }),
        ),
      },
    }
  }

  plan(spec: SqlSpec, inputs: InputValues): Planned<SqlPlan> {
    if ('query' in spec) return this.#planQuery(spec, inputs)
    const { formula } = spec
    const { expression } = formula
    return {
      outcome: 'run',
      plan: {
        request: shortened(expression.replaceAll(/\s+/g, ' '), SHOWN),
        // The same formula may have another value in another dialect.
        hashed: { dialect: this.#dialect.name },
        evidence: {
          expression: shortened(expression, LOGGED),
          reads: formula.inputs.map(({ name }) => name),
        },
        row: formula.inputs.map(({ name }) => inputs[name] ?? null),
      },
    }
  }

  #planQuery({ query, found }: QuerySpec, inputs: InputValues): Planned<QueryPlan> {
    const { statement, reads } = query
    const request = shortened(statement.replaceAll(/\s+/g, ' '), SHOWN)
    const result = found?.get(rowKey(query, inputs))
    if (result?.ok === false) {
      return { outcome: 'failed', failure: { reason: 'computation', request, detail: result.error } }
    }
    const dialect = this.#dialect.name
    // Before the query is run its row is not known: no computed cell has this hash.
    const hashed = { dialect, row: result === undefined ? false : result.value }
    return {
      outcome: 'run',
      plan: {
        request,
        hashed,
        evidence: {
          expression: shortened(statement, LOGGED),
          reads: reads.map(({ name }) => name),
          ...hashed,
        },
        found: result?.value,
      },
    }
  }

  estimate(): number {
    return 0
  }

  async run(spec: SqlSpec, plan: SqlPlan, context: BatchContext): Promise<Result<Computed, Failure>> {
    const [computed] = await this.runBatch(spec, [{ plan, onSent: () => undefined }], context)
    if (computed === undefined) throw new Error('a formula has no result')
    return computed
  }

  async runBatch(
    spec: SqlSpec,
    items: readonly BatchItem<SqlPlan>[],
    { formulas, signal }: BatchContext,
  ): Promise<readonly Result<Computed, Failure>[]> {
    if ('query' in spec) return items.map(({ plan }) => foundIn(spec, plan))
    const { formula, target } = spec
    if (formulas === undefined) throw new Error('formulas need a store that computes them')
    const rows = items.map(({ plan }) => ('row' in plan ? plan.row : []))
    const results = await formulas.computeFormula(formula, rows, signal)
    return items.map(({ plan: { request } }, index): Result<Computed, Failure> => {
      const result = results[index]
      if (result === undefined) throw new Error(`${rows.length} records have ${results.length} results`)
      if (!result.ok) return err({ reason: 'computation', request, detail: result.error })
      return ok({ values: { [target]: ok(result.value) }, evidence: {} })
    })
  }
}

/** Returns the values of a query's inputs in their order. */
function rowOf({ inputs }: QuerySpec['query'], values: InputValues): readonly JsonValue[] {
  return inputs.map(({ name }) => values[name] ?? null)
}

function rowKey(query: QuerySpec['query'], values: InputValues): string {
  return JSON.stringify(rowOf(query, values))
}

/** Returns the values in the row that a query returned. */
function foundIn({ query: { targets } }: QuerySpec, plan: SqlPlan): Result<Computed, Failure> {
  if (!('found' in plan) || plan.found === undefined) throw new Error('the query of a plan was not run')
  const { found } = plan
  const values = Object.fromEntries(targets.map(({ name }) => [name, ok(found?.[name] ?? null)]))
  return ok({ values, evidence: {} })
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}
