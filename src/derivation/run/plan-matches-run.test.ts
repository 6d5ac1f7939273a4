import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { contractWith } from '../../../test/support/contract-with.ts'
import type { Contract } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import { err, ok } from '../../errors/result.ts'
import { seededRandom, type Random } from '../../store/suite/support/random.ts'
import { PATIENT_LIMITS } from '../../store/suite/support/patient-limits.ts'
import { SqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { CacheEntry, CellCommit, RecordedUsage, RecordKey, WorkQuery } from '../../store/cell-work.ts'
import type { StoreDefinition } from '../../store/sheet-store.ts'
import type { RunProgress } from '../../store/stored-run.ts'
import type { Derivation } from '../definition/derivation-kind.ts'
import { runDerivations } from '../testing/run-derivations.ts'
import { MemoryStore } from '../testing/memory-store.ts'
import { planRun } from '../plan/plan-run.ts'
import type { PlanRequest, RunPlan, RunStore } from '../run-request.ts'
import { requestOf, testDerivations, testRequest, TestKind, type TestSpec } from '../testing/test-run.ts'

const PLAIN = ['x', 'y']
const DERIVED = ['b', 'c', 'd', 'e']
const VALUES = ['one', 'two', 'three', '..', null]

/** The share of derivations whose calls are refused; some get them back, or lose them, on the way. */
const REFUSED = 0.15

/** Derivations of up to four fields, each computed from plain fields and earlier ones. */
function randomSpecs(random: Random): TestSpec[] {
  const specs: TestSpec[] = []
  const free = DERIVED.slice(0, 1 + random.below(DERIVED.length))
  const known = [...PLAIN]
  while (free.length > 0 && specs.length < 3) {
    const targets = free.splice(0, random.chance(0.3) ? 2 : 1)
    // Later derivations like to be computed from earlier ones.
    const inputs = known.filter((field) => random.chance(PLAIN.includes(field) ? 0.4 : 0.5))
    if (inputs.length === 0) inputs.push('x')
    const needed = inputs.filter(() => random.chance(0.7))
    specs.push({
      file: `${targets.join('')}.yaml`,
      targets,
      inputs,
      needed,
      price: random.pick([0, 0.1, 0.1, 0.3]),
      ...(random.chance(REFUSED) ? { refusal: 'not here' } : {}),
    })
    known.push(...targets)
  }
  return specs
}

/** A contract that refuses longer texts, so that what the cache has may have come to be refused. */
function withMaxLength(contract: Contract, maxLength: number): Contract {
  const fields = contract.fields.map((field) =>
    DERIVED.includes(field.name) ? { ...field, options: { maxLength } } : field,
  )
  return { ...contract, fields, fieldByName: new Map(fields.map((field) => [field.name, field])) }
}

/** A store, and what the test does to it. */
interface TestedStore extends RunStore {
  readonly commits: readonly CellCommit[]
  /** The entries of the cache, by input hash. */
  readonly cache: ReadonlyMap<string, CacheEntry>
  /** The requests whose responses are kept. */
  readonly requests: ReadonlySet<string>
  keys(): Promise<readonly RecordKey[]>
  put(id: string, values: Readonly<Record<string, JsonValue>>): Promise<unknown>
  remove(key: RecordKey): Promise<unknown>
  follow(derivations: readonly Derivation[]): Promise<unknown>
  startRun(): Promise<string>
}

class TestedMemoryStore extends MemoryStore implements TestedStore {
  get requests(): ReadonlySet<string> {
    return new Set(this.kept.keys())
  }

  async keys(): Promise<readonly RecordKey[]> {
    return [...this.records.keys()]
  }

  async put(id: string, values: Readonly<Record<string, JsonValue>>): Promise<void> {
    this.write(id, values)
  }

  async remove(key: RecordKey): Promise<void> {
    this.delete(key)
  }

  async follow(derivations: readonly Derivation[]): Promise<void> {
    this.define(derivations)
  }

  async startRun(): Promise<string> {
    return '1'
  }
}

const IDS = Array.from({ length: 12 }, (_, index) => `r${index}`)
const ACTOR = 'user:ann'

/** The real store. */
class TestedSqliteStore implements TestedStore {
  readonly commits: CellCommit[] = []
  readonly cache = new Map<string, CacheEntry>()
  readonly requests = new Set<string>()
  readonly #store: SqliteStore

  private constructor(store: SqliteStore) {
    this.#store = store
  }

  static async open(t: TestContext, derivations: readonly Derivation[]): Promise<TestedSqliteStore> {
    const directory = await mkdtemp(join(tmpdir(), 'colophon-plan-'))
    const store = await SqliteStore.open(directory, {
      definition: definitionOf(derivations),
      actor: ACTOR,
      lockTimeoutMs: 5000,
      queryLimits: PATIENT_LIMITS,
      onSourceDiffers: () => undefined,
    })
    t.after(async () => {
      await store.close()
      await rm(directory, { recursive: true })
    })
    return new TestedSqliteStore(store)
  }

  async keys(): Promise<readonly RecordKey[]> {
    const keys = await this.#store.recordKeys(IDS)
    return [...keys.values()].toSorted((one, other) => one - other)
  }

  provenance: TestedStore['provenance'] = (id, field, limit) => this.#store.provenance(id, field, limit)

  put(id: string, values: Readonly<Record<string, JsonValue>>): Promise<unknown> {
    const body = { records: [{ id, ...values }], actor: ACTOR }
    return this.#store.upsert({ body, defaultActor: null, ifMatch: null })
  }

  async remove(key: RecordKey): Promise<void> {
    const keys = await this.#store.recordKeys(IDS)
    await this.#store.delete(
      IDS.filter((id) => keys.get(id) === key),
      ACTOR,
    )
  }

  async follow(derivations: readonly Derivation[]): Promise<void> {
    await this.#store.define(definitionOf(derivations))
  }

  startRun(): Promise<string> {
    return this.#store.startRun({
      kind: 'materialize',
      reverts: null,
      actor: ACTOR,
      targets: null,
      recordIds: null,
      force: false,
      overwriteManual: false,
      only: null,
      limit: null,
      maxCalls: null,
      maxCost: null,
      reuseResponses: false,
      stopAfterFailures: null,
      silentMs: 0,
    })
  }

  get responses(): RunStore['responses'] {
    return this.#store.responses
  }

  status(): ReturnType<RunStore['status']> {
    return this.#store.status()
  }

  work(query: WorkQuery): ReturnType<RunStore['work']> {
    return this.#store.work(query)
  }

  usage(key: string): Promise<RecordedUsage | null> {
    return this.#store.usage(key)
  }

  cached(hashes: readonly string[]): ReturnType<RunStore['cached']> {
    return this.#store.cached(hashes)
  }

  commitCells(commit: CellCommit): ReturnType<RunStore['commitCells']> {
    this.commits.push(commit)
    for (const { request } of commit.responses ?? []) this.requests.add(request)
    for (const entry of commit.cache) {
      const values = { ...this.cache.get(entry.inputHash)?.values, ...entry.values }
      this.cache.set(entry.inputHash, { ...entry, values })
    }
    return this.#store.commitCells(commit)
  }
}

function definitionOf(derivations: readonly Derivation[]): StoreDefinition {
  const properties = [...PLAIN, ...DERIVED].map(
    (name) => `{name: ${name}, logicalType: string, x-editable-by: ['*']}`,
  )
  const targets = derivations.flatMap(
    ({ targets: fields, file: derivation, sha256, text, kind: { name: kind }, inputs, requiredInputs }) =>
      fields.map((field) => {
        const of = { field, derivation, sha256, text, kind }
        return { ...of, inputs, required: requiredInputs, nonEmpty: [] }
      }),
  )
  return { contract: contractWith(...properties), targets }
}

type OpenTestedStore = (derivations: readonly Derivation[]) => Promise<TestedStore>

class RandomSheet {
  readonly random: Random
  readonly kind = new TestKind()
  readonly store: TestedStore
  specs: TestSpec[]
  contract: Contract
  failing = 0
  /** Cells that failed since their call was refused. */
  refusedCells = 0

  static async open(random: Random, openStore: OpenTestedStore): Promise<RandomSheet> {
    const specs = randomSpecs(random)
    return new RandomSheet(random, specs, await openStore(testDerivations(new TestKind(), specs)))
  }

  private constructor(random: Random, specs: TestSpec[], store: TestedStore) {
    this.random = random
    this.specs = specs
    this.store = store
    this.contract = this.request({}).contract
    this.kind.answer = async (url) => {
      for (let turns = random.below(3); turns > 0; turns -= 1) await new Promise(setImmediate)
      if (random.chance(this.failing)) return 'fails'
      const values = DERIVED.map((target) => {
        const bad = random.chance(this.failing)
        const value = bad
          ? err({ reason: 'malformed_json' as const, request: url })
          : ok(valueOf(url, target))
        return [target, value] as const
      })
      return { values: Object.fromEntries(values) }
    }
  }

  derivations(): ReturnType<typeof testDerivations> {
    return testDerivations(this.kind, this.specs)
  }

  request(changes: Partial<PlanRequest>): ReturnType<typeof testRequest> {
    const request = testRequest(
      this.store,
      this.derivations(),
      this.contract ? { contract: this.contract } : {},
    )
    return { ...request, ...changes, store: this.store }
  }

  async edit(): Promise<void> {
    const { random, store } = this
    const targets = this.specs.flatMap((spec) => spec.targets)
    for (const id of IDS.slice(0, 1 + random.below(IDS.length))) {
      const fields = PLAIN.filter(() => random.chance(0.6))
      if (random.chance(0.15)) fields.push(random.pick(targets))
      await store.put(id, Object.fromEntries(fields.map((field) => [field, random.pick(VALUES)])))
    }
    if (random.chance(0.2)) await store.remove(random.pick(await store.keys()))
    if (random.chance(0.2)) {
      const edited = random.below(this.specs.length)
      this.specs = this.specs.map((spec, index) =>
        index === edited ? { ...spec, version: 1 + ((spec.version ?? 1) % 2) } : spec,
      )
      await store.follow(this.derivations())
    }
    if (random.chance(0.3)) {
      const edited = random.below(this.specs.length)
      this.specs = this.specs.map((spec, index) => (index === edited ? toggled(spec) : spec))
    }
    if (random.chance(0.3)) this.contract = withMaxLength(this.contract, random.pick([8, 14, 100]))
  }

  async randomRequest(): Promise<Partial<PlanRequest>> {
    const { random } = this
    const keys = await this.store.keys()
    const maybe = <T>(probability: number, value: () => T): T | null =>
      random.chance(probability) ? value() : null
    const targets = this.specs.flatMap((spec) => spec.targets).filter(() => random.chance(0.85))
    return {
      targets: new Set(targets),
      records: maybe(0.2, () => keys.filter(() => random.chance(0.6))),
      force: random.chance(0.25),
      overwritable: new Set(targets.filter(() => random.chance(0.8))),
      only: maybe(0.3, () => random.pick(['missing', 'stale', 'failed'] as const)),
      limit: maybe(0.3, () => 1 + random.below(5)),
      maxCalls: maybe(0.25, () => random.below(8)),
      maxCost: maybe(0.25, () => random.pick([0, 0.1, 0.3, 0.55, 1, 3])),
      reuseResponses: random.chance(0.3),
    }
  }
}

/** The derivation with its calls refused, or made again; as by a restart, so its file is the same. */
function toggled({ refusal, ...spec }: TestSpec): TestSpec {
  return refusal === undefined ? { ...spec, refusal: 'not here' } : spec
}

/** A function of the call and the target; some are long, so that a contract can refuse them, some are no value. */
function valueOf(url: string, target: string): string | null {
  const text = `${url.split('/')[1] ?? ''}${target}`
  if (text.length % 7 === 0) return null
  return text.length > 12 ? text.slice(-9) : text
}

/** Runs what has been planned, and holds one against the other. */
async function checkPlan(sheet: RandomSheet, changes: Partial<PlanRequest>): Promise<RunPlan> {
  const { store, kind } = sheet
  const request = sheet.request(changes)
  const callsBefore = kind.calls.length
  const commitsBefore = store.commits.length
  const plan = await planRun(request)
  assert.deepEqual(
    [kind.calls.length, store.commits.length],
    [callsBefore, commitsBefore],
    'planning only reads',
  )

  const cacheBefore = new Map(store.cache)
  const requestsBefore = new Set(store.requests)
  const total = request.records?.length ?? (await store.keys()).length
  const { progress, failures } = await runDerivations({ ...request, id: await store.startRun() })
  const calls = kind.calls.slice(callsBefore)
  assert.deepEqual(progress, request.observer.progress)
  assert.deepEqual(
    [progress.done, progress.total],
    [total * request.targets.size, total * request.targets.size],
  )
  assert.equal(progress.calls, calls.length)
  const refused = sheet.specs.filter(({ refusal }) => refusal !== undefined)
  for (const { file } of refused) {
    assert.ok(!calls.some((url) => url.startsWith(`${file}/`)), `${file} is refused, and was called`)
  }
  sheet.refusedCells += failures.filter(({ error }) => error.endsWith('refused: not here')).length
  assert.equal(new Set(calls).size, calls.length, 'D25: equal hashes are one call')
  assert.ok(
    calls.length <= (request.maxCalls ?? Infinity),
    `${calls.length} of at most ${request.maxCalls} calls`,
  )
  assert.ok(progress.totalCost <= (request.maxCost ?? Infinity), `$${progress.totalCost}`)
  assert.deepEqual(failures.length, request.observer.cells.filter(({ state }) => state === 'failed').length)

  for (const { compute, cached, skipped } of Object.values(plan.targets)) {
    assert.equal(compute + cached + skipped, total)
  }
  if (plan.atMost) {
    assert.ok(calls.length <= plan.calls, `${calls.length} calls, at most ${plan.calls} were planned`)
    assert.ok(progress.totalCost <= plan.cost, `$${progress.totalCost}, at most ${plan.cost} was planned`)
    return plan
  }
  assert.equal(calls.length, plan.calls, 'calls')
  assert.equal(progress.totalCost, plan.cost, 'cost')
  checkCells(sheet, { request, plan, progress, cacheBefore, requestsBefore, commitsBefore })
  return plan
}

/** Matches the failures of cells for which no call is begun. */
const FORESEEN = / -> (?:dots|refused: not here)$/

/** Which cells of each target were computed by a call of the run, and which were filled from the cache as it was before. */
function checkCells(
  { store }: RandomSheet,
  of: {
    request: ReturnType<RandomSheet['request']>
    plan: RunPlan
    progress: RunProgress
    cacheBefore: TestedStore['cache']
    requestsBefore: TestedStore['requests']
    commitsBefore: number
  },
): void {
  const { request, plan, progress, cacheBefore, requestsBefore, commitsBefore } = of
  // What fails in a call, or at its answer, was counted as if it went well.
  if (request.observer.cells.some((cell) => cell.state === 'failed' && !FORESEEN.test(cell.error))) return
  const planned = Object.values(plan.targets).reduce((sum, cells) => sum + (cells.left ?? 0), 0)
  assert.equal(progress.left, planned, 'cells left by bounds')
  assert.equal(progress.manualOverwritten, plan.manualOverwritten ?? 0, 'values written by hand')
  const stored = store.commits.slice(commitsBefore).flatMap(({ cells }) => cells)
  for (const target of request.targets) {
    const computed = stored.flatMap((cell) =>
      cell.target === target && cell.result.kind === 'computed' ? [cell.result] : [],
    )
    const field = request.contract.fieldByName.get(target)
    const cached = computed.filter(({ inputHash, provenance }) => {
      const isKept = requestsBefore.has(requestOf(String(provenance['url'])))
      if (request.reuseResponses && isKept) return true
      const values = cacheBefore.get(inputHash)?.values ?? {}
      return (
        !request.force && field && Object.hasOwn(values, target) && valueError(field, values[target]) === null
      )
    })
    const { compute, cached: filled } = plan.targets[target] ?? {}
    assert.deepEqual([compute, filled], [computed.length - cached.length, cached.length], target)
  }
}

interface Rounds {
  readonly sheets: number
  readonly rounds: number
  readonly openStore: OpenTestedStore
}

/** Plans and runs random requests over random sheets; answers with how many of each kind there were. */
async function comparePlansWithRuns({ sheets, rounds, openStore }: Rounds): Promise<Record<string, number>> {
  const seen = { exact: 0, atMost: 0, calls: 0, cached: 0, refused: 0, overwritten: 0 }
  for (let seed = FIRST_SEED; seed < FIRST_SEED + sheets; seed += 1) {
    const sheet = await RandomSheet.open(seededRandom(seed), openStore)
    for (let round = 0; round < rounds; round += 1) {
      await sheet.edit()
      sheet.failing = sheet.random.pick([0, 0, 0.2])
      const changes = await sheet.randomRequest()
      const shown = JSON.stringify({ seed, round, ...changes, targets: [...(changes.targets ?? [])] })
      try {
        const plan = await checkPlan(sheet, changes)
        seen[plan.atMost ? 'atMost' : 'exact'] += 1
        seen.calls += plan.calls
        seen.overwritten += plan.manualOverwritten ?? 0
        for (const { cached } of Object.values(plan.targets)) seen.cached += cached
      } catch (error) {
        throw new Error(`${shown}\n${JSON.stringify(sheet.specs)}`, { cause: error })
      }
    }
    seen.refused += sheet.refusedCells
  }
  return seen
}

const SHEETS = Number(process.env['PLAN_SHEETS'] ?? 50)
const FIRST_SEED = Number(process.env['PLAN_SEED'] ?? 1)

test('a dry run says what the run that follows does: exactly, or at most where inputs are computed in it', async () => {
  const seen = await comparePlansWithRuns({
    sheets: SHEETS,
    rounds: 6,
    openStore: async (derivations) => new TestedMemoryStore(derivations),
  })
  // The sheets must be worth something as a test.
  const rare = { ...seen, overwritten: (seen['overwritten'] ?? 0) * 5 }
  for (const [what, count] of Object.entries(rare)) assert.ok(count > SHEETS / 2, `${count} ${what}`)
})

test('a dry run says what the run that follows does with the real store too', async (t) => {
  await comparePlansWithRuns({
    sheets: Math.ceil(SHEETS / 25),
    rounds: 12,
    openStore: (derivations) => TestedSqliteStore.open(t, derivations),
  })
})
