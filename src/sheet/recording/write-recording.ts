import type { Derivation, Plan } from '../../derivation/definition/derivation-kind.ts'
import { planComputation } from '../../derivation/hash/plan-computation.ts'
import {
  keyOfRequest,
  mayAnswer,
  notRecordedLine,
  readRecordedLine,
  type SentRequest,
} from '../../derivation/recording/recorded-call.ts'
import type { CellOfRun } from '../../derivation/run-request.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import { writeLines } from '../../files/io/write-lines.ts'
import type { Sheet } from '../sheet.ts'
import { computedRecords, lastStep, type ComputedCell } from './computed-cells.ts'
import { RunsOfCells } from './runs-of-cells.ts'

/** The most cells of a {@link WrittenRecording} that are listed. */
const LISTED = 10

/** A recording that was written. */
export interface WrittenRecording {
  readonly calls: number
  /** The number of cells that were computed by calls which it does not have, and the first of them. */
  readonly uncovered: number
  readonly firstUncovered: readonly CellOfRun[]
}

/**
 * Writes the recording of a sheet as `recording.jsonl`: a line for each call, in the order in which they were stored, and then one for each
 * cell that was computed by a call which the recording does not have.
 */
export async function writeRecording(sheet: Sheet, path: string): Promise<WrittenRecording> {
  const { store, derivations } = await sheet.deriving()
  const first: CellOfRun[] = []
  const counts = { calls: 0, uncovered: 0 }
  async function* lines(): AsyncGenerator<string> {
    const usable = new UsableCalls()
    for await (const line of callsOf(store, usable)) {
      yield line
      counts.calls += 1
    }
    for (const derivation of derivations.levels.flat()) {
      for await (const cell of uncoveredCells(store, derivation, usable)) {
        yield `${notRecordedLine(cell)}\n`
        if (first.length < LISTED) first.push(cell)
        counts.uncovered += 1
      }
    }
  }
  await writeLines(path, lines())
  return { ...counts, firstUncovered: first }
}

/** Yields the lines of the calls, each with the number of calls with an equal request up to it. Adds those whose response may be used. */
async function* callsOf(
  { responses }: Pick<SheetStore, 'responses'>,
  usable: UsableCalls,
): AsyncGenerator<string> {
  const occurrences = new Map<string, number>()
  for (let after = 0; ;) {
    const { lines, next } = await responses.recorded(after)
    if (lines.length === 0) return
    for (const { line, at } of lines) {
      const call = readRecordedLine(line)
      if (call === null) throw new Error('the recording has a line that is not a call')
      const key = keyOfRequest(call.request)
      const occurrence = (occurrences.get(key) ?? 0) + 1
      occurrences.set(key, occurrence)
      if ('failure' in call.answer || call.answer.body !== null) usable.add(key, call.run)
      yield `${JSON.stringify({ occurrence, at }).slice(0, -1)},${line.slice(1)}\n`
    }
    after = next
  }
}

/** The calls that may answer a request, by the first run that made it: later runs follow from it. */
class UsableCalls {
  readonly #firstRuns = new Map<string, string>()

  add(key: string, run: string): void {
    const first = this.#firstRuns.get(key)
    if (first === undefined || !mayAnswer(first, run)) this.#firstRuns.set(key, run)
  }

  has(request: SentRequest, run: string): boolean {
    const first = this.#firstRuns.get(keyOfRequest(request))
    return first !== undefined && mayAnswer(first, run)
  }
}

/** Yields the cells of a derivation that were computed by a call which is not recorded. */
async function* uncoveredCells(
  store: SheetStore,
  derivation: Derivation,
  recorded: UsableCalls,
): AsyncGenerator<CellOfRun> {
  if (!sendsRequests(derivation)) return
  const runs = new RunsOfCells(store)
  for await (const records of computedRecords(store, derivation)) {
    await runs.read(records)
    for (const { item, cells } of records) {
      const present = cells.filter((cell) => cell.state !== 'stale')
      if (present.length === 0) continue
      const inputs = Object.fromEntries(derivation.inputs.map((name) => [name, item.inputs[name] ?? null]))
      const planned = planComputation(derivation, inputs)
      if (planned.outcome !== 'run') continue
      for (const cell of present) {
        const requests = await requestsOf(derivation, planned.plan, cell)
        if (requests.length === 0) continue
        const run = await runs.of(item.id, cell)
        if (requests.every((request) => recorded.has(request, run))) continue
        yield { recordId: item.id, field: cell.target }
      }
    }
  }
}

/** Whether a derivation, or one of its steps, sends requests that are recorded. */
function sendsRequests({ kind, spec }: Derivation): boolean {
  const steps = kind.stepsOfFile?.(spec) ?? []
  return kind.firstRequest !== undefined || steps.some((step) => sendsRequests(step.derivation))
}

/** Returns the requests by which a cell was computed; of a conversation with a model the first. */
async function requestsOf(
  { kind, spec }: Derivation,
  plan: Plan,
  cell: ComputedCell,
): Promise<readonly SentRequest[]> {
  if (cell.state === 'failed' && !wasCalled(cell)) return []
  if (kind.stepsOf === undefined)
    return kind.firstRequest === undefined ? [] : [kind.firstRequest(spec, plan)]
  const last = cell.state === 'fresh' ? lastStep(await cell.entry()) : null
  const steps = kind.stepsOf(plan).filter(({ number }) => last === null || number <= last)
  const requests = steps.flatMap(({ derivation, plan: own }) => {
    const request = derivation.kind.firstRequest?.(derivation.spec, own)
    return request === undefined ? [] : [request]
  })
  // The reason of these failures is the first step that was not carried out, which may be any.
  const isCutShort = cell.state === 'failed' && cell.failure.reason !== 'no_step_accepted'
  return isCutShort ? requests.slice(0, 1) : requests
}

/** Reasons of failures for which no call was made. */
const NO_CALL: ReadonlySet<string> = new Set(['refused', 'unusable_input', 'no_record', 'cost_per_record'])

function wasCalled({ failure: { reason } }: Extract<ComputedCell, { state: 'failed' }>): boolean {
  return reason === null || !NO_CALL.has(reason)
}
