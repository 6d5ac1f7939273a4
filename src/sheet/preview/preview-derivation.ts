import type { Contract } from '../../contract/contract.ts'
import { parseExactly } from '../../contract/json/exact-json.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { showNames } from '../../contract/json/show-value.ts'
import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import { FailureStreak } from '../../derivation/failure-streak.ts'
import { Planner, type ItemPlan, type RunScope } from '../../derivation/plan/planner.ts'
import type { RunBlock, RunRequest } from '../../derivation/run-request.ts'
import { Computation } from '../../derivation/run/computation.ts'
import { Tally } from '../../derivation/run/tally.ts'
import type { StoredFailure } from '../../errors/failure.ts'
import {
  ContractError,
  PermissionDeniedError,
  SheetError,
  ValidationError,
} from '../../errors/service-error.ts'
import type { WorkItem } from '../../store/cell-work.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import { checkMayChange, refusal } from '../definition/change/change-definition.ts'
import { bytesOfText, checkName } from '../definition/change/derivation-file.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import { requirePrices } from '../runs/selection/require-prices.ts'
import type { Sheet } from '../sheet.ts'
import { PreviewStore } from './preview-store.ts'
import { sampleRecords } from './sample-records.ts'

/** The most records of a preview. */
export const MAX_PREVIEWED = 50

/** The default number of records. */
export const USUAL_SAMPLE = 5

/** Characters of a response or a value that a preview returns. */
const SHOWN = 16 * 1024

/** Records that are computed at the same time. */
const AT_ONCE = 4

export interface PreviewRequest {
  /** The name of the derivation file, which need not exist if there is a text. */
  readonly file: string
  /** Its new text; null for the present one. */
  readonly text: string | null
  /** A new text of the contract, such as one with a further field; null for the present one. */
  readonly contract: string | null
  /** The ids of the records; null for a sample. */
  readonly recordIds: readonly string[] | null
  /** The number of records in a sample, and the number that chooses them. */
  readonly sample: number
  readonly seed: number
  /** The most dollars that the calls may cost together; null for no bound. */
  readonly maxCost: number | null
  /** The most calls; no bound when absent or null. */
  readonly maxCalls?: number | null
  /** Called with the calls and dollars that a record has taken, also where an error ends the preview. */
  readonly onSpent?: (spent: Spent) => void
  /** Whether a new text may use nothing but the records: no host, file, sheet or program. */
  readonly usesNothingNew?: boolean
  readonly actor: GivenActor
}

/** Calls, and their cost in dollars. */
interface Spent {
  readonly calls: number
  readonly totalCost: number
}

/** The amount that calls may still take; null for no bound. */
interface Bounds {
  readonly maxCalls: number | null
  readonly maxCost: number | null
}

const NO_BOUNDS: Bounds = { maxCalls: null, maxCost: null }

export interface Preview {
  readonly file: string
  readonly targets: readonly string[]
  readonly records: readonly RecordPreview[]
  /** Calls that were made, and their cost in dollars; calls of an unknown price are counted apart. */
  readonly calls: number
  readonly totalCost: number
  readonly unpricedCalls: number
  /** The calls that a run makes at the same time at most; null if it calls no host. */
  readonly parallel: number | null
}

/** The result of one record. */
export interface RecordPreview {
  readonly recordId: string
  /** `left`: the calls would exceed a bound. */
  readonly outcome: 'computed' | 'failed' | 'blocked' | 'skipped' | 'left'
  readonly inputs: JsonObject
  /** The name of the computation, for http `<METHOD> <URL>`; null where nothing is computed. */
  readonly request: string | null
  /** The values by target, and the failures of the others. */
  readonly values: JsonObject
  readonly failures: { readonly [target: string]: PreviewFailure }
  /** The reason why nothing is computed, for `blocked`. */
  readonly block: RunBlock | null
  /** The members of provenance that describe the computation; null for none. */
  readonly evidence: JsonObject | null
  /** The response behind it, if its kind has one that is kept. */
  readonly response: { readonly status: number; readonly body: string } | null
  /** The names of inputs, values and responses that are cut off or left out, since they are long. */
  readonly cut: readonly string[]
  readonly calls: number
  readonly cost: number
  readonly unpricedCalls: number
  /** Milliseconds. */
  readonly ms: number
}

export type PreviewFailure = Pick<StoredFailure, 'error' | 'errorType' | 'reason' | 'responseBody'>

/** The context that the previews of all records share. */
interface Shared {
  readonly sheet: Sheet
  readonly contract: Contract
  readonly store: SheetStore
  readonly derivation: Derivation
  readonly actor: string
  readonly now: number
  readonly signal: AbortSignal
  readonly onSpent: (spent: Spent) => void
}

/**
 * Computes a derivation for a few records with the machinery of a run, and stores no cell. What is computed is in the cache, so that a
 * run with the same file does not pay for it again. Inputs are as they are now, stale ones too. Throws OperationError for a text that the
 * definition cannot have, SheetError for an unknown file or record, PermissionDeniedError for a new text where the service may not change the
 * definition, ValidationError for bounds, and the reason of the signal.
 */
export async function previewDerivation(
  sheet: Sheet,
  request: PreviewRequest,
  signal: AbortSignal,
): Promise<Preview> {
  checkRequest(request)
  const actor = resolveActor(sheet, request.actor)
  if (request.text !== null || request.contract !== null) checkMayChange(sheet)
  const { contract, derivation, store } = await parsed(sheet, request)
  requirePrices({ levels: [[derivation]], targets: new Set(derivation.targets), maxCost: request.maxCost })
  const shared: Shared = {
    sheet,
    contract,
    store,
    derivation,
    actor,
    now: await sheet.now(),
    signal: AbortSignal.any([signal, sheet.stopping]),
    onSpent: request.onSpent ?? (() => undefined),
  }
  const ids = request.recordIds ?? (await sampleRecords(store, request.sample, request.seed))
  const items = await readItems(shared, [...new Set(ids)])
  const records = await sheet.during(
    computeAll(shared, items, { maxCost: request.maxCost, maxCalls: request.maxCalls ?? null }),
  )
  const sum = (of: (record: RecordPreview) => number): number =>
    records.reduce((total, record) => total + of(record), 0)
  return {
    file: derivation.file,
    targets: derivation.targets,
    records,
    calls: sum(({ calls }) => calls),
    totalCost: sum(({ cost }) => cost),
    unpricedCalls: sum(({ unpricedCalls }) => unpricedCalls),
    parallel: parallelCalls(sheet, derivation),
  }
}

/** Returns the concurrency of the host that allows the fewest calls; null for a derivation without a host. */
function parallelCalls(sheet: Sheet, { resources }: Derivation): number | null {
  const policies = sheet.policies()
  const hosts = resources.filter(({ type }) => type === 'host')
  return hosts.length === 0
    ? null
    : Math.min(...hosts.map(({ name }) => policies.forUrl(`http://${name}`).concurrency))
}

function checkRequest({ recordIds, sample, maxCost }: PreviewRequest): void {
  if (recordIds !== null && recordIds.length > MAX_PREVIEWED) {
    throw new ValidationError(
      `record_ids has ${recordIds.length} records; a preview has at most ${MAX_PREVIEWED}`,
      'too_many_items',
    )
  }
  if (!(Number.isInteger(sample) && sample >= 1 && sample <= MAX_PREVIEWED)) {
    throw new ValidationError(
      `sample must be an integer from 1 to ${MAX_PREVIEWED}, got ${sample}`,
      'out_of_range',
    )
  }
  if (maxCost !== null && !(maxCost >= 0)) {
    throw new ValidationError(
      `max_cost must be a number of dollars, at least 0, got ${maxCost}`,
      'out_of_range',
    )
  }
}

async function parsed(
  sheet: Sheet,
  { file, text, contract: contractText, usesNothingNew = false }: PreviewRequest,
): Promise<Pick<Shared, 'contract' | 'derivation' | 'store'>> {
  checkName(file)
  const { files, store } = await sheet.definition()
  const changes = new Map<string, Uint8Array>()
  if (text !== null) changes.set(`derivations/${file}`, bytesOfText(text))
  if (contractText !== null) changes.set('contract.yaml', bytesOfText(contractText))
  try {
    const changed = files.withChanges(changes)
    const contract = changed.contract()
    const derivations = (await changed.derivations(contract)).levels.flat()
    const derivation = derivations.find((candidate) => candidate.file === file)
    if (derivation !== undefined) {
      if (usesNothingNew && changes.size > 0) checkUsesNothing(derivation)
      return { contract, derivation, store }
    }
    throw new SheetError(
      `no derivation ${showNames([file])}; send its text, or one of ${showNames(derivations.map((known) => known.file))}`,
      'unknown_derivation',
    )
  } catch (error) {
    throw error instanceof ContractError ? refusal(error) : error
  }
}

/** Throws PermissionDeniedError for a derivation that uses more than the records. */
function checkUsesNothing({ file, resources }: Derivation): void {
  const [first] = resources
  if (first === undefined) return
  throw new PermissionDeniedError(
    `${file} uses the ${first.type} ${first.name}, and a new text can be tried only once a person has accepted it; propose it, or preview the present file`,
    'not_permitted',
  )
}

/** Reads the records as a run would read them before anything was computed. Throws SheetError for one that does not exist. */
async function readItems({ sheet, store, derivation }: Shared, ids: readonly string[]): Promise<WorkItem[]> {
  const { contract } = await sheet.current()
  const fields = derivation.inputs.filter((name) => contract.fieldByName.has(name))
  const keys = await store.recordKeys(ids)
  const items: WorkItem[] = []
  for (const id of ids) {
    const [key, record] = [keys.get(id), await store.record(id, ['id', ...fields])]
    if (key === undefined || record === null) {
      throw new SheetError(`no record ${JSON.stringify(id.slice(0, 200))}`, 'unknown_record')
    }
    const values = parseExactly(String(record.json))
    const inputs = Object.fromEntries(
      derivation.inputs.map((name) => [name, isJsonObject(values) ? (values[name] ?? null) : null]),
    )
    const cells = derivation.targets.map(
      (target) => ({ target, state: 'missing', blocked: false, inputHash: null, version: '' }) as const,
    )
    items.push({ key, id, inputs, pending: {}, cells })
  }
  return items
}

/** Computes the records, equal computations one after the other, so that the cache has what the first one has paid for. */
async function computeAll(
  shared: Shared,
  items: readonly WorkItem[],
  bounds: Bounds,
): Promise<readonly RecordPreview[]> {
  const previews = new Map<string, RecordPreview>()
  const first = items.map((item) => planOf(shared, item, NO_BOUNDS))
  if (items.length > 0) shared.derivation.kind.prepare(shared.derivation.spec)
  const groups = [
    ...Map.groupBy(items, (item, index) => {
      const planned = first[index]?.planned
      return planned?.outcome === 'run' ? planned.hash : item.id
    }).values(),
  ]
  let left = bounds
  // An error ends the others too, which could otherwise pay for what nobody receives, after the sheet is closed.
  const stop = new AbortController()
  const stoppable = { ...shared, signal: AbortSignal.any([shared.signal, stop.signal]) }
  const compute = async (group: readonly WorkItem[]): Promise<void> => {
    for (const item of group) {
      stoppable.signal.throwIfAborted()
      const preview = await computeOne(stoppable, item, left)
      left = { maxCalls: without(left.maxCalls, preview.calls), maxCost: without(left.maxCost, preview.cost) }
      previews.set(item.id, preview)
    }
  }
  // With a bound one after the other, since each may take what the others leave.
  const lanes = bounds.maxCost === null && bounds.maxCalls === null ? AT_ONCE : 1
  const work = groups.values()
  const lane = async (): Promise<void> => {
    try {
      for (const group of work) await compute(group)
    } catch (error) {
      stop.abort(error)
      throw error
    }
  }
  await Promise.allSettled(Array.from({ length: lanes }, lane))
  // The first error is the reason.
  stoppable.signal.throwIfAborted()
  return items.flatMap(({ id }) => previews.get(id) ?? [])
}

function without(bound: number | null, spent: number): number | null {
  return bound === null ? null : Math.max(0, bound - spent)
}

interface PlannedPreview {
  readonly store: PreviewStore
  readonly request: RunRequest
  readonly scope: RunScope
  readonly planned: ItemPlan
}

function planOf(shared: Shared, item: WorkItem, bounds: Bounds): PlannedPreview {
  const store = new PreviewStore(shared.store, item)
  const request = requestOf(shared, store, [item], bounds)
  const scope = { total: 1, records: [item.key], lastKey: item.key, lastSeq: Number.MAX_SAFE_INTEGER }
  const planned = new Planner(request, scope).plan(shared.derivation, item, item.cells)
  return { store, request, scope, planned }
}

function requestOf(
  { sheet, contract, derivation, actor, now, signal }: Shared,
  store: PreviewStore,
  items: readonly WorkItem[],
  { maxCalls, maxCost }: Bounds,
): RunRequest {
  return {
    contract,
    levels: [[derivation]],
    targets: new Set(derivation.targets),
    records: items.map(({ key }) => key).toSorted((a, b) => a - b),
    force: false,
    overwritable: new Set(),
    only: null,
    limit: null,
    maxCalls,
    maxCost,
    reuseResponses: false,
    stopAfterFailures: null,
    policies: sheet.policies(),
    limiter: sheet.limiter,
    now,
    store,
    signal,
    id: 'preview',
    actor,
    observer: { onBegun: () => undefined, onCells: () => undefined, onProgress: () => undefined },
  }
}

async function computeOne(shared: Shared, item: WorkItem, bounds: Bounds): Promise<RecordPreview> {
  const { derivation } = shared
  const { store, request, scope, planned } = planOf(shared, item, bounds)
  const tally = new Tally({ total: derivation.targets.length, manual: 0, failed: 0 }, request.observer)
  const started = performance.now()
  const computation = new Computation(request, scope, { tally, streak: new FailureStreak(null) })
  try {
    await computation.compute(derivation)
  } finally {
    computation.close()
    shared.onSpent(tally.progress)
  }
  const ms = Math.round(performance.now() - started)
  const { calls, totalCost: cost, unpricedCalls } = tally.progress
  const results = [...store.results]
  const computed = results.flatMap(([target, result]) =>
    result.kind === 'computed' ? [[target, result] as const] : [],
  )
  const failed = results.flatMap(([target, result]) =>
    result.kind === 'failed' ? [[target, result] as const] : [],
  )
  const cut = new Set<string>()
  return {
    recordId: item.id,
    outcome: outcomeOf(planned, computed.length, failed.length),
    inputs: shown(Object.entries(item.inputs), cut),
    request: planned.outcome === 'run' ? planned.plan.request : null,
    values: shown(
      computed.map(([target, { value }]) => [target, value]),
      cut,
    ),
    failures: Object.fromEntries(failed.map(([target, failure]) => [target, failureOf(failure)] as const)),
    block: planned.outcome === 'blocked' ? planned.block : null,
    evidence: computed[0]?.[1].provenance ?? null,
    response: await responseOf(shared, store, planned, cut),
    cut: [...cut],
    calls,
    cost,
    unpricedCalls,
    ms,
  }
}

function outcomeOf(planned: ItemPlan, computed: number, failed: number): RecordPreview['outcome'] {
  if (computed > 0) return 'computed'
  if (failed > 0 || planned.outcome === 'failed') return 'failed'
  return planned.outcome === 'run' ? 'left' : planned.outcome
}

function failureOf({ error, errorType, reason, responseBody }: PreviewFailure): PreviewFailure {
  return { error, errorType, reason, ...(responseBody !== undefined && { responseBody }) }
}

async function responseOf(
  { derivation: { kind, spec }, store }: Shared,
  { received }: PreviewStore,
  planned: ItemPlan,
  cut: Set<string>,
): Promise<RecordPreview['response']> {
  if (planned.outcome !== 'run' || kind.responses === undefined) return null
  const key = kind.responses.requestKey(spec, planned.plan)
  const response = received.get(key) ?? (await store.responses.read(key))
  if (response === null) return null
  const { status, body } = response
  if (body.length > SHOWN) cut.add('response')
  return { status, body: body.slice(0, SHOWN) }
}

/** Returns values without those that are long: of a text the beginning. */
function shown(values: readonly (readonly [name: string, value: JsonValue])[], cut: Set<string>): JsonObject {
  const entries = values.map(([name, value]): readonly [string, JsonValue] => {
    if (typeof value !== 'string' && JSON.stringify(value).length <= SHOWN) return [name, value]
    if (typeof value === 'string' && value.length <= SHOWN) return [name, value]
    cut.add(name)
    return [name, typeof value === 'string' ? value.slice(0, SHOWN) : null]
  })
  return Object.fromEntries(entries)
}
