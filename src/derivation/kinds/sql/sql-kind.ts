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
  RenameContext,
} from '../../definition/derivation-kind.ts'
import { renameInExpression } from '../../definition/rename-edits.ts'
import { failOf, parseSql, type SqlSpec } from './sql-spec.ts'

interface SqlPlan extends Plan {
  /** The values of the inputs of the formula, in their order. */
  readonly row: readonly JsonValue[]
}

/** The most characters of a formula in messages, and in the log, which has it for every value. */
const SHOWN = 60
const LOGGED = 500

/** The kind `sql`: computes a field from others of the same record by a formula, in the SQL dialect of the sheet's store. */
export class SqlKind implements DerivationKind<SqlSpec, SqlPlan> {
  readonly name = 'sql'
  readonly isLocal = true
  readonly readsListedInputs = false
  readonly #dialect: FormulaDialect

  constructor(dialect: FormulaDialect) {
    this.#dialect = dialect
  }

  parse(file: JsonObject, targets: readonly string[], context: ParseContext): ParsedSpec<SqlSpec> {
    const spec = parseSql(file, targets, { dialect: this.#dialect, context })
    const usedFields = spec.formula.inputs.map(({ name }) => name)
    // Formulas take null as SQL does.
    const { formula } = spec
    const formulas = [{ formula, fail: (message: string) => failOf(message, context) }]
    return { spec, usedFields, requiredFields: [], resources: [], formulas }
  }

  renameField(file: JsonObject, context: RenameContext): readonly YamlEdit[] {
    return renameInExpression(file['expression'], ['expression'], { dialect: this.#dialect, context })
  }

  prepare(): void {}

  plan({ formula }: SqlSpec, inputs: InputValues): Planned<SqlPlan> {
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

  estimate(): number {
    return 0
  }

  async run(spec: SqlSpec, plan: SqlPlan, context: BatchContext): Promise<Result<Computed, Failure>> {
    const [computed] = await this.runBatch(spec, [{ plan, onSent: () => undefined }], context)
    if (computed === undefined) throw new Error('a formula has no result')
    return computed
  }

  async runBatch(
    { formula, target }: SqlSpec,
    items: readonly BatchItem<SqlPlan>[],
    { formulas, signal }: BatchContext,
  ): Promise<readonly Result<Computed, Failure>[]> {
    if (formulas === undefined) throw new Error('formulas need a store that computes them')
    const rows = items.map(({ plan }) => plan.row)
    const results = await formulas.computeFormula(formula, rows, signal)
    return items.map(({ plan: { request } }, index): Result<Computed, Failure> => {
      const result = results[index]
      if (result === undefined) throw new Error(`${rows.length} records have ${results.length} results`)
      if (!result.ok) return err({ reason: 'computation', request, detail: result.error })
      return ok({ values: { [target]: ok(result.value) }, evidence: {} })
    })
  }
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}
