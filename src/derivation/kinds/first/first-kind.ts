import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import type { YamlEdit } from '../../../contract/yaml/edit/yaml-edit.ts'
import { responseBodyOf, type Failure } from '../../../errors/failure.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import { OperationError } from '../../../errors/service-error.ts'
import type { FormulaDialect } from '../../../store/formula.ts'
import type {
  Computed,
  DerivationKind,
  DerivationStep,
  InputValues,
  ParseContext,
  ParsedSpec,
  Plan,
  Planned,
  RenameContext,
  Resource,
  RunContext,
  Source,
  StepPlan,
} from '../../definition/derivation-kind.ts'
import { renameInExpression } from '../../definition/rename-edits.ts'
import { hashesOfPlan } from '../../hash/hash-of-values.ts'
import { planComputation } from '../../hash/plan-computation.ts'
import { Conditions } from './accept.ts'
import { chainOf, type Chain } from './chain.ts'
import { parseFirst, type FirstSpec, type Step } from './first-spec.ts'
import { trySteps, type StepsEnd, type StepToTry } from './try-steps.ts'
import { refusalOf, valuesIn, type Verdict } from './verdict.ts'

interface FirstPlan extends Plan {
  readonly steps: readonly StepToTry<StepPlan>[]
  readonly hashes: Chain
  readonly inputs: InputValues
}

/**
 * The kind `first`: tries steps, each a computation of another kind, until one has a value that the contract and the step's condition
 * accept. The run carries steps out, with the hash, the cache and the bounds that each has by itself.
 */
export class FirstKind implements DerivationKind<FirstSpec, FirstPlan> {
  readonly name = 'first'
  readonly needsListedInputs = false
  readonly readsListedInputs = false
  readonly #dialect: FormulaDialect | undefined
  /** The conditions of the runs under way. */
  readonly #conditions = new WeakMap<AbortSignal, Conditions>()

  /** Without a dialect, steps cannot have conditions. */
  constructor(dialect: FormulaDialect | undefined) {
    this.#dialect = dialect
  }

  parse(file: JsonObject, targets: readonly string[], context: ParseContext): ParsedSpec<FirstSpec> {
    const { spec, formulas } = parseFirst(file, targets, { dialect: this.#dialect, context })
    const { steps } = spec
    const derivations = steps.map(({ derivation }) => derivation)
    const used = steps.flatMap(({ derivation, accept }) => [
      ...derivation.inputs,
      ...(accept?.formula.inputs ?? []).map(({ name }) => name).filter((name) => !targets.includes(name)),
    ])
    return {
      spec,
      formulas,
      usedFields: [...new Set(used)],
      // Without the value of another field there may be a step that needs none.
      requiredFields: requiredBy(derivations.map(({ requiredInputs }) => requiredInputs)),
      resources: distinct(derivations.flatMap(({ resources }) => resources)),
      sources: [...new Set(derivations.flatMap(({ sourcePaths }) => sourcePaths))],
      sheets: [...new Set(derivations.flatMap(({ sheetPaths }) => sheetPaths))],
    }
  }

  renameField(file: JsonObject, context: RenameContext): readonly YamlEdit[] {
    const steps = Array.isArray(file['steps']) ? (file['steps'] as readonly JsonValue[]) : []
    return steps.flatMap((step, index) => {
      if (!isJsonObject(step)) return []
      const { accept = null, ...own } = step
      const at = ['steps', index, 'accept']
      const dialect = this.#dialect
      const condition = dialect === undefined ? [] : renameInExpression(accept, at, { dialect, context })
      return [...context.step(['steps', index], own), ...condition]
    })
  }

  async withSources(spec: FirstSpec, sources: readonly Source[]): Promise<FirstSpec> {
    const byPath = new Map(sources.map((source) => [source.path, source]))
    const steps: Step[] = []
    for (const step of spec.steps) {
      const { derivation } = step
      const { kind, sourcePaths, sheetPaths } = derivation
      const own = [...sourcePaths, ...sheetPaths].flatMap((path) => byPath.get(path) ?? [])
      if (kind.withSources === undefined || own.length === 0) steps.push(step)
      else {
        const read = await kind.withSources(derivation.spec, own)
        steps.push({ ...step, derivation: { ...derivation, spec: read } })
      }
    }
    return { ...spec, steps }
  }

  versionOf({ steps }: FirstSpec): string {
    return JSON.stringify(steps.map(({ derivation: { kind, spec } }) => kind.versionOf?.(spec) ?? null))
  }

  sourceFault({ steps }: FirstSpec): { readonly key: string; readonly message: string } | null {
    for (const [index, { derivation }] of steps.entries()) {
      const fault = derivation.kind.sourceFault?.(derivation.spec) ?? null
      if (fault !== null) return { key: 'steps', message: `step ${index + 1}: ${fault.message}` }
    }
    return null
  }

  prepare({ steps, maxCost }: FirstSpec): void {
    for (const [index, { derivation }] of steps.entries()) {
      const { kind, spec, refusal } = derivation
      // A step that is not carried out needs nothing.
      if (refusal === null) kind.prepare(spec)
      const problem = maxCost === null ? null : (kind.priceProblem?.(spec) ?? null)
      if (problem !== null) {
        throw new OperationError(
          `max_cost_per_record cannot be kept, since ${problem}, which step ${index + 1} of ${derivation.file} uses; add the price, or leave max_cost_per_record out`,
          'unknown_price',
        )
      }
    }
  }

  priceProblem({ steps }: FirstSpec): string | null {
    for (const { derivation } of steps) {
      const problem = derivation.kind.priceProblem?.(derivation.spec) ?? null
      if (problem !== null) return problem
    }
    return null
  }

  plan(spec: FirstSpec, inputs: InputValues): Planned<FirstPlan> {
    const { steps, targets } = spec
    const required = requiredBy(steps.map(({ derivation }) => derivation.requiredInputs))
    const empty = required.find((field) => (inputs[field] ?? null) === null)
    if (empty !== undefined) return { outcome: 'blocked', field: empty }
    const planned = this.stepsOfFile(spec).map((step) => planStep(step, inputs))
    if (planned.every((step) => step.planned.outcome === 'skipped')) return { outcome: 'skipped' }
    const hashed = planned.map(({ number, kind, planned: of }) => [
      `step_${number}`,
      { kind, ...(of.outcome === 'run' && of.plan.plan.hashed) },
    ])
    const links = steps.map((step, index) => {
      const of = planned[index]?.planned
      return {
        hash: of?.outcome === 'run' ? of.plan.hash : null,
        accept: this.#acceptOf(step, targets, inputs),
      }
    })
    return {
      outcome: 'run',
      plan: {
        request: `first of ${planned.map(({ kind }) => kind).join(', ')}`,
        hashed: Object.fromEntries(hashed) as JsonObject,
        evidence: {},
        hashes: chainOf(targets, links),
        steps: planned,
        inputs,
      },
    }
  }

  stepsOf({ steps }: FirstPlan): readonly StepPlan[] {
    const end = steps.findIndex(({ planned }) => planned.outcome === 'unusable')
    const usable = end === -1 ? steps : steps.slice(0, end)
    return usable.flatMap(({ planned }) => (planned.outcome === 'run' ? [planned.plan] : []))
  }

  isCutShort({ steps }: FirstPlan): boolean {
    return steps.some(({ planned }) => planned.outcome === 'unusable')
  }

  stepsOfFile({ steps }: FirstSpec): readonly DerivationStep[] {
    return steps.map((step, index) => ({
      number: index + 1,
      derivation: step.derivation,
      condition: this.#conditionOf(step),
    }))
  }

  maxCostOf({ maxCost }: FirstSpec): number | null {
    return maxCost
  }

  /** The steps have prices of their own. */
  estimate(): number {
    return 0
  }

  async run(spec: FirstSpec, plan: FirstPlan, context: RunContext): Promise<Result<Computed, Failure>> {
    const { step: carryOut, onStepResult } = context
    if (carryOut === undefined) throw new Error('steps need a run that carries them out')
    const end = await trySteps(plan.steps, {
      maxCost: spec.maxCost,
      carryOut: (step, most) => carryOut(step, most),
      onResult: ({ plan: of, isAccepted, cost }) => onStepResult?.({ step: of, isAccepted, cost }),
      judge: (number, values) => this.#judge(spec, { number, values, inputs: plan.inputs }, context),
    })
    return ok(computedOf(spec, plan, end))
  }

  async #judge(
    { steps, contract }: FirstSpec,
    of: {
      readonly number: number
      readonly values: Computed['values']
      readonly inputs: InputValues
    },
    { formulas, signal }: RunContext,
  ): Promise<Verdict> {
    const values = valuesIn(of.values)
    const fault = refusalOf(contract, values)
    if (fault !== null) return { is: 'refused', detail: fault }
    const accept = steps[of.number - 1]?.accept ?? null
    if (accept === null) return { is: 'accepted' }
    if (formulas === undefined) throw new Error('conditions need a store that computes formulas')
    const conditions = this.#conditions.get(signal) ?? new Conditions(formulas, signal)
    this.#conditions.set(signal, conditions)
    return conditions.judge(accept, (field) => values.get(field) ?? of.inputs[field] ?? null)
  }

  /** Returns the condition of a step with the values of the record that it reads; null for none. */
  #acceptOf(step: Step, targets: readonly string[], inputs: InputValues): string | null {
    const condition = this.#conditionOf(step)
    const read = step.accept?.formula.inputs ?? []
    const values = read.flatMap(({ name }) => (targets.includes(name) ? [] : [[name, inputs[name] ?? null]]))
    return condition === null ? null : JSON.stringify([condition, ...values])
  }

  #conditionOf({ accept }: Step): string | null {
    return accept === null ? null : `${this.#dialect?.name ?? ''} ${accept.formula.expression}`
  }
}

function planStep(of: DerivationStep, all: InputValues): StepToTry<StepPlan> {
  const { derivation, number } = of
  const { kind, spec, inputs: fields } = derivation
  const step = { number, kind: kind.name }
  const fault = kind.sourceFault?.(spec) ?? null
  if (fault !== null) return { ...step, planned: { outcome: 'unusable', detail: fault.message } }
  const inputs = Object.fromEntries(fields.map((field) => [field, all[field] ?? null]))
  const planned = planComputation(derivation, inputs)
  switch (planned.outcome) {
    case 'blocked':
      return { ...step, planned: { outcome: 'skipped', detail: `${planned.field} has no value` } }
    case 'skipped':
      return { ...step, planned: { outcome: 'skipped', detail: 'nothing to compute' } }
    case 'failed':
      return { ...step, planned }
    case 'run': {
      const { plan } = planned
      const { whole: hash } = hashesOfPlan(derivation, plan, inputs)
      return {
        ...step,
        planned: { outcome: 'run', plan: { ...of, plan, hash } },
      }
    }
  }
}

function computedOf(
  { targets, contract }: FirstSpec,
  { request, hashes }: FirstPlan,
  end: StepsEnd<StepPlan>,
): Computed {
  const { tried, isCached } = end
  const all = (value: Result<JsonValue, Failure>): Computed['values'] =>
    Object.fromEntries(targets.map((target) => [target, value]))
  const steps = tried as readonly JsonObject[]
  if (end.end === 'accepted') {
    return {
      values: end.result.values,
      evidence: { ...end.plan.plan.evidence, ...end.result.evidence, step: end.number, steps },
      inputHash: hashes.at[end.number - 1] ?? hashes.whole,
      isCached,
      receivedAt: end.result.receivedAt,
    }
  }
  const rest = { evidence: { step: null, steps }, inputHash: hashes.whole, isCached }
  if (end.end === 'nothing') {
    const nothing = new Map(targets.map((target) => [target, null]))
    const fault = refusalOf(contract, nothing)
    if (fault === null) return { values: all(ok(null)), ...rest }
    return {
      values: all(err({ reason: 'contract', request, detail: `no step has a value; ${fault}` })),
      ...rest,
    }
  }
  return { values: all(err(failureOf(request, end))), ...rest }
}

function failureOf(
  request: string,
  end: Extract<StepsEnd<StepPlan>, { end: 'none_accepted' | 'stopped' | 'too_dear' }>,
): Failure {
  switch (end.end) {
    case 'none_accepted':
      return { reason: 'no_step_accepted', request, detail: end.detail, isLasting: end.isLasting }
    case 'too_dear':
      return { reason: 'cost_per_record', request, detail: end.detail }
    case 'stopped':
      if (end.failure?.reason === 'not_recorded')
        return { reason: 'not_recorded', request, detail: end.detail }
      return { reason: 'step_not_made', request, detail: end.detail, ...bodyOf(end.failure) }
  }
}

function bodyOf(failure: Failure | null): { readonly responseBody?: string } {
  const responseBody = failure === null ? undefined : responseBodyOf(failure)
  return responseBody === undefined ? {} : { responseBody }
}

/** Returns the fields that every step requires. */
function requiredBy(steps: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = steps
  return first.filter((field) => others.every((required) => required.includes(field)))
}

function distinct(resources: readonly Resource[]): readonly Resource[] {
  return [...new Map(resources.map((resource) => [`${resource.type} ${resource.name}`, resource])).values()]
}
