import { createHash, type Hash } from 'node:crypto'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import { evidenceOf } from '../../derivation/definition/evidence.ts'
import type { CellOfRun } from '../../derivation/run-request.ts'
import { sameValue } from '../../store/same-value.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { Derivations } from '../definition/definition-files.ts'
import type { CellsToReplay } from './cells-to-replay.ts'
import {
  computedRecords,
  computedRecordsOf,
  type ComputedCell,
  type ComputedRecord,
} from '../recording/computed-cells.ts'
import { Listing, type CellDifference, type ReplayMiss } from './replay-report.ts'

/** A store with its derivations. */
interface Compared {
  readonly store: SheetStore
  readonly derivations: Derivations
}

/** The results of comparing the cells of a replay with those of its archive. */
export class CellComparison {
  cells = 0
  equal = 0
  readonly missed = new Listing<ReplayMiss>()
  readonly notComputed = new Listing<CellOfRun>()
  readonly different = new Listing<CellDifference>()
  readonly differentCosts = new Listing<CellDifference>()
  readonly #archived: Compared
  readonly #replayed: Compared
  readonly #cells: CellsToReplay
  readonly #digest: Hash = createHash('sha256')

  constructor(archived: Compared, replayed: Compared, cells: CellsToReplay) {
    this.#archived = archived
    this.#replayed = replayed
    this.#cells = cells
  }

  get digest(): string {
    return this.#digest.copy().digest('hex')
  }

  /** Compares all replayed cells, derivation by derivation, in the order of the records. */
  async compareAll(): Promise<void> {
    for (const derivation of this.#archived.derivations.levels.flat()) {
      for await (const records of computedRecords(this.#archived.store, derivation)) {
        await this.#compare(derivation, records)
      }
    }
  }

  async #compare(derivation: Derivation, records: readonly ComputedRecord[]): Promise<void> {
    const ids = records.map(({ item }) => item.id)
    const replayed = await this.#replayedCells(derivation, ids)
    for (const { item, cells } of records) {
      const own = cells.filter(({ target }) => this.#cells.has(item.id, target))
      if (own.length === 0) continue
      for (const recorded of own) {
        const { target } = recorded
        const { cell = null, value = null } = replayed.get(`${item.id}\0${target}`) ?? {}
        const values = { recorded: item.inputs[target] ?? null, replayed: value }
        await this.#compareCell({ recordId: item.id, field: target }, { recorded, cell, values, derivation })
      }
    }
  }

  /** Returns the computed cells of records in the replay, where other files may compute them. */
  async #replayedCells(
    { targets }: Derivation,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, CellWithValue>> {
    const { store, derivations } = this.#replayed
    const present = new Set(targets.flatMap((target) => derivations.byTarget.get(target) ?? []))
    const cells = new Map<string, CellWithValue>()
    for (const derivation of present) {
      for (const { item, cells: own } of await computedRecordsOf(store, derivation, ids)) {
        for (const cell of own) {
          cells.set(`${item.id}\0${cell.target}`, { cell, value: item.inputs[cell.target] ?? null })
        }
      }
    }
    return cells
  }

  async #compareCell(of: CellOfRun, pair: ComparedPair): Promise<void> {
    this.cells += 1
    const { cell, values } = pair
    this.#digest.update(`${JSON.stringify([of, await digested(cell), values.replayed])}\n`)
    if (cell === null) {
      this.notComputed.add(of)
      return
    }
    if (cell.state === 'failed' && cell.failure.reason === 'not_recorded') {
      this.missed.add({ ...of, error: cell.failure.error })
      return
    }
    const differences = await this.#differences(of.field, pair)
    const first = differences.find(({ what }) => what !== 'cost')
    if (first !== undefined) {
      this.different.add({ ...of, ...first })
      return
    }
    this.equal += 1
    const [cost] = differences
    if (cost !== undefined) this.differentCosts.add({ ...of, ...cost })
  }

  async #differences(
    field: string,
    { recorded, cell, values, derivation }: ComparedPair,
  ): Promise<readonly Difference[]> {
    if (cell === null || recorded.state !== cell.state)
      return [{ what: 'state', replayed: shownState(cell), recorded: shownState(recorded) }]
    if (recorded.state === 'failed' && cell.state === 'failed') {
      const [own, other] = [failureText(cell), failureText(recorded)]
      return own === other ? [] : [{ what: 'failure', replayed: own, recorded: other }]
    }
    if (!sameValue(values.replayed, values.recorded))
      return [{ what: 'value', replayed: values.replayed, recorded: values.recorded }]
    if (recorded.state !== 'fresh' || cell.state !== 'fresh') return []
    // The hash of a formula covers the dialect of the engine, which can be that of PostgreSQL in the archive.
    const isSameFile = this.#replayed.derivations.byTarget.get(field)?.sha256 === derivation.sha256
    const hasHash = isSameFile && derivation.formulas.length === 0
    return entryDifferences((await cell.entry()) ?? {}, (await recorded.entry()) ?? {}, hasHash)
  }
}

interface ComparedPair {
  readonly recorded: ComputedCell
  /** The cell in the replay; null if it has no result. */
  readonly cell: ComputedCell | null
  readonly values: { readonly recorded: JsonValue; readonly replayed: JsonValue }
  readonly derivation: Derivation
}

type Difference = Omit<CellDifference, keyof CellOfRun>

interface CellWithValue {
  readonly cell: ComputedCell
  readonly value: JsonValue
}

/**
 * Returns the members of provenance entries that differ. Times, seqs, runs, actors and confinements of scripts are those of the replay, and
 * so is whether a result was cached: a replay makes only the calls of present cells. `hasHash`: whether input hashes are compared, too.
 */
function entryDifferences(
  replayed: JsonObject,
  recorded: JsonObject,
  hasHash: boolean,
): readonly Difference[] {
  const [own, other] = [comparable(replayed, hasHash), comparable(recorded, hasHash)]
  const names = [...new Set([...Object.keys(own), ...Object.keys(other)])].toSorted()
  return names.flatMap((what) => {
    const [value, before] = [own[what] ?? null, other[what] ?? null]
    return JSON.stringify(value) === JSON.stringify(before)
      ? []
      : [{ what, replayed: value, recorded: before }]
  })
}

function comparable(entry: JsonObject, hasHash: boolean): JsonObject {
  const { source = null, derivation = null, input_hash: inputHash = null } = entry
  const { duration_ms: _duration, confinement: _confinement, steps, ...evidence } = evidenceOf(entry)
  return {
    source,
    derivation,
    ...(hasHash && { input_hash: inputHash }),
    ...evidence,
    ...(Array.isArray(steps) && { steps: (steps as readonly JsonObject[]).map(withoutSharing) }),
  }
}

/** Returns a step of a fallback without what depends on which record made its call. */
function withoutSharing({ cached: _cached, cost: _cost, ...step }: JsonObject): JsonObject {
  return step
}

function shownState(cell: ComputedCell | null): string {
  if (cell === null) return 'missing'
  return cell.state === 'failed' ? `failed: ${failureText(cell)}` : cell.state
}

function failureText({ failure }: Extract<ComputedCell, { state: 'failed' }>): string {
  const { error, responseBody } = failure
  return responseBody === undefined ? error : `${error} (response: ${responseBody})`
}

/** Returns the part of a replayed cell that is the same in each replay. */
async function digested(cell: ComputedCell | null): Promise<JsonValue> {
  if (cell === null) return null
  if (cell.state === 'failed') return ['failed', failureText(cell)]
  if (cell.state === 'stale') return ['stale']
  return ['fresh', comparable((await cell.entry()) ?? {}, true)]
}
