import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { JsonValue } from '../../contract/json/json.ts'
import type { Failure } from '../../errors/failure.ts'
import { err, ok, type Result } from '../../errors/result.ts'
import type { RunProgress } from '../../store/stored-run.ts'
import type {
  Computed,
  Derivation,
  DerivationKind,
  InputValues,
  Plan,
  Planned,
  RunContext,
} from '../definition/derivation-kind.ts'
import { orderDerivations } from '../definition/graph.ts'
import { Limiter } from '../limiter/limiter.ts'
import { DEFAULT_HOST_POLICIES } from '../definition/host-policies.ts'
import type { CellChange, CellOfRun, PlanRequest, RunObserver, RunRequest, RunStore } from '../run-request.ts'
import { testContract } from './test-contract.ts'

/** The definition of a test derivation. */
export interface TestSpec {
  readonly file: string
  readonly targets: readonly string[]
  readonly inputs: readonly string[]
  /** Inputs that block the call when they are null; by default all. */
  readonly needed?: readonly string[]
  /** Dollars for each call; by default zero, null for an unknown price. */
  readonly price?: number | null
  readonly retryFailedAfterMs?: number
  /** Derivations of the same service make the same requests for the same inputs; by default the file. */
  readonly service?: string
  /** The reason why its calls are refused, if they are. */
  readonly refusal?: string
  /** Changes the text of the file. */
  readonly version?: number
}

/** The result of a successful call: one value for every target, or each target's own value or failure. */
type GoodAnswer =
  | { readonly value: JsonValue }
  | { readonly values: { readonly [target: string]: Result<JsonValue, Failure> } }

/** The result of a call: a success, a failure, or with `gone` a permanent one. */
export type TestAnswer = GoodAnswer | 'fails' | 'gone'

interface TestPlan extends Plan {
  readonly hashed: { readonly url: string; readonly body: null }
}

/** Test support: a kind that lists its calls and whose responses the test makes. */
export class TestKind implements DerivationKind<TestSpec, TestPlan> {
  readonly name = 'test'
  /** URLs of calls, in the order in which they began. */
  readonly calls: string[] = []
  /** Calls under way. */
  underWay = 0
  peak = 0

  /** Whether a call is sent. */
  reaches: (url: string) => boolean = () => true

  /** Makes the response to a call; by default `<the part after the last slash>`. */
  answer: (url: string, signal: AbortSignal) => Promise<TestAnswer> | TestAnswer = (url) => ({
    value: `<${url.split('/').at(-1) ?? ''}>`,
  })

  parse(): never {
    throw new Error('a test derivation has no file')
  }

  prepare(): void {}

  /** The URL is `<file>/<inputs>`; an input of `..` makes no request. */
  plan({ file, inputs, needed = inputs }: TestSpec, values: InputValues): Planned<TestPlan> {
    const blocking = needed.find((field) => (values[field] ?? null) === null)
    if (blocking !== undefined) return { outcome: 'blocked', field: blocking }
    const url = `${file}/${inputs.map((field) => JSON.stringify(values[field] ?? null).replaceAll('"', '')).join(',')}`
    if (inputs.some((field) => values[field] === '..')) {
      return { outcome: 'failed', failure: { reason: 'unusable_input', request: url, detail: 'dots' } }
    }
    return { outcome: 'run', plan: { request: url, hashed: { url, body: null }, evidence: { url } } }
  }

  prices: ReadonlyMap<string, number | null> = new Map()

  estimate({ hashed }: TestPlan): number | null {
    const price = this.prices.get(hashed.url.split('/')[0] ?? '')
    return price === undefined ? 0 : price
  }

  readonly responses: NonNullable<DerivationKind<TestSpec, TestPlan>['responses']> = {
    requestKey: ({ file, service = file }, { hashed }) => requestOf(hashed.url.replace(file, service)),
    evaluate: (spec, _plan, { status, body }) =>
      ok({ values: valuesOf(spec, JSON.parse(body) as GoodAnswer), evidence: { status } }),
  }

  async run(spec: TestSpec, plan: TestPlan, context: RunContext): ReturnType<DerivationKind['run']> {
    const { signal, onBegun, onSent } = context
    const { url } = plan.hashed
    this.calls.push(url)
    onBegun?.()
    if (this.reaches(url)) onSent()
    this.underWay += 1
    this.peak = Math.max(this.peak, this.underWay)
    try {
      const answer = await this.answer(url, signal)
      if (answer === 'fails') return err({ reason: 'status', request: url, status: 503 })
      if (answer === 'gone') return err({ reason: 'status', request: url, status: 404 })
      const values = valuesOf(spec, answer)
      const request = requestOf(url.replace(spec.file, spec.service ?? spec.file))
      const response = { request, status: 200, durationMs: 1, body: JSON.stringify(answer) }
      return ok({ values, evidence: { status: 200 }, response })
    } finally {
      this.underWay -= 1
    }
  }
}

/** Returns the key of the request for a URL. */
export function requestOf(url: string): string {
  return `sha256:${createHash('sha256').update(url).digest('hex')}`
}

function valuesOf({ targets }: TestSpec, answer: GoodAnswer): Computed['values'] {
  return 'values' in answer
    ? answer.values
    : Object.fromEntries(targets.map((target) => [target, ok(answer.value)]))
}

/** Makes derivations of a kind. */
export function testDerivations(kind: TestKind, specs: readonly TestSpec[]): Derivation[] {
  kind.prices = new Map(specs.map(({ file, price = 0 }) => [file, price]))
  return specs.map((spec) => {
    const text = `${spec.file} ${spec.version ?? 1}`
    const sha256 = createHash('sha256').update(text).digest('hex')
    const { file, targets, inputs, needed: requiredInputs = inputs, retryFailedAfterMs = null } = spec
    return {
      file,
      sha256,
      text,
      kind,
      spec,
      targets,
      inputs,
      requiredInputs,
      nonEmptyInputs: [],
      retryFailedAfterMs,
      resources: [],
      sourcePaths: [],
      formulas: [],
      sheetPaths: [],
      sources: null,
      reads: null,
      // A test may refuse its calls later on.
      get refusal(): string | null {
        return spec.refusal ?? null
      },
    }
  })
}

/** An observer that asserts the invariants of progress. */
export class TestObserver implements RunObserver {
  readonly cells: CellChange[] = []
  readonly commits: (readonly CellChange[])[] = []
  progress: RunProgress | null = null
  /** The cells whose computation is under way. */
  readonly underWay = new Set<CellOfRun>()

  onBegun(cells: readonly CellOfRun[], stored: Promise<void>): void {
    assert.ok(cells.length > 0)
    for (const cell of cells) this.underWay.add(cell)
    void stored.then(() => cells.forEach((cell) => this.underWay.delete(cell)))
  }

  onCells(cells: readonly CellChange[]): void {
    assert.ok(cells.length > 0)
    this.commits.push(cells)
    this.cells.push(...cells)
  }

  onProgress(progress: RunProgress): void {
    const { done, total, materialized, skipped, failed, calls, totalCost } = progress
    assert.equal(done, materialized + skipped + failed)
    assert.ok(done <= total, `${done} of ${total}`)
    const before = this.progress
    if (before !== null) {
      assert.equal(total, before.total)
      assert.ok(done >= before.done, `${done} done, and before ${before.done}`)
      assert.ok(materialized >= before.materialized && failed >= before.failed)
      assert.ok(skipped >= before.skipped, `${skipped} skipped, and before ${before.skipped}`)
      assert.ok(calls >= before.calls && totalCost >= before.totalCost)
    }
    this.progress = progress
  }
}

/** Returns a request for a run over everything, with these changes; fields are texts. */
export function testRequest(
  store: RunStore,
  derivations: readonly Derivation[],
  changes: Partial<Omit<RunRequest, 'observer'>> = {},
): RunRequest & { readonly observer: TestObserver } {
  const fields = derivations.flatMap(({ inputs, targets }) => [...inputs, ...targets])
  const request: Omit<PlanRequest, 'store'> = {
    contract: testContract(Object.fromEntries(fields.map((field) => [field, 'string' as const]))),
    levels: orderDerivations(derivations),
    targets: new Set(derivations.flatMap(({ targets }) => targets)),
    records: null,
    force: false,
    overwritable: new Set(),
    only: null,
    limit: null,
    maxCalls: null,
    maxCost: null,
    reuseResponses: false,
    stopAfterFailures: null,
    policies: DEFAULT_HOST_POLICIES,
    limiter: new Limiter(),
    now: 0,
    signal: new AbortController().signal,
  }
  return {
    ...request,
    store,
    id: '1',
    actor: 'agent:runner',
    observer: new TestObserver(),
    ...changes,
  }
}
