import type { JsonObject } from '../../contract/json/json.ts'
import type { CellOfRun } from '../../derivation/run-request.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { RunId, StoredRun } from '../../store/stored-run.ts'
import type { ComputedCell, ComputedRecord } from './computed-cells.ts'

/** The run of a cell whose run is not known, such as that of a failure whose run was removed; it counts as the last. */
const UNKNOWN_RUN = String(Number.MAX_SAFE_INTEGER)

/** Returns the run of a computation by its entry of the log. */
export function runOfEntry(entry: JsonObject | null): RunId {
  const run = entry?.['run_id']
  return typeof run === 'string' ? run : UNKNOWN_RUN
}

/** The runs that computed cells, read for some hundred records at a time. */
export class RunsOfCells {
  readonly #store: SheetStore
  readonly #failures: RunsOfFailures
  /** Whether runs computed cells, and did not revert them. */
  readonly #computes = new Map<RunId, boolean>()
  #writers: ReadonlyMap<string, RunId | null> = new Map()

  constructor(store: SheetStore) {
    this.#store = store
    this.#failures = new RunsOfFailures(store)
  }

  /** Reads the runs of the values of these records, of which cells are asked for next. */
  async read(records: readonly ComputedRecord[]): Promise<void> {
    const writers = await this.#store.cellWriters(new Map(records.map(({ item }) => [item.key, item.id])))
    this.#writers = new Map(writers.map(({ recordId, field, run }) => [nameOf({ recordId, field }), run]))
  }

  async of(recordId: string, cell: Exclude<ComputedCell, { state: 'stale' }>): Promise<RunId> {
    const of = { recordId, field: cell.target }
    if (cell.state === 'failed') return this.#failures.of(of)
    // Null as a value has no writer.
    const writer = this.#writers.get(nameOf(of)) ?? null
    if (writer !== null && (await this.#isComputing(writer))) return writer
    return runOfEntry(await cell.entry())
  }

  async #isComputing(run: RunId): Promise<boolean> {
    const known = this.#computes.get(run)
    if (known !== undefined) return known
    const isComputing = (await this.#store.run(run))?.kind === 'materialize'
    this.#computes.set(run, isComputing)
    return isComputing
  }
}

/** The runs in which cells failed last; read when the first failed cell needs them. */
export class RunsOfFailures {
  readonly #store: SheetStore
  #runs: Promise<ReadonlyMap<string, RunId>> | null = null

  constructor(store: SheetStore) {
    this.#store = store
  }

  async of(of: CellOfRun): Promise<RunId> {
    this.#runs ??= this.#read()
    return (await this.#runs).get(nameOf(of)) ?? UNKNOWN_RUN
  }

  async #read(): Promise<ReadonlyMap<string, RunId>> {
    const runs = new Map<string, RunId>()
    for await (const { id } of runsOf(this.#store)) {
      for (let after = 0; ;) {
        const failures = await this.#store.runFailures({ run: id, after, limit: 1000 })
        const last = failures.at(-1)
        if (last === undefined) break
        for (const failure of failures) {
          const cell = nameOf(failure)
          if (!runs.has(cell)) runs.set(cell, id)
        }
        after = last.number
      }
    }
    return runs
  }
}

/** Yields the runs of a store, newest first. */
async function* runsOf(store: SheetStore): AsyncGenerator<StoredRun> {
  for (let before: RunId | null = null; ;) {
    const runs: readonly StoredRun[] = await store.runs({ before, limit: 100 })
    const last = runs.at(-1)
    if (last === undefined) return
    yield* runs
    before = last.id
  }
}

function nameOf({ recordId, field }: CellOfRun): string {
  return `${recordId}\0${field}`
}
