import { createHash } from 'node:crypto'
import { ServiceError } from '../errors/service-error.ts'
import { EventBus, type SizeOf, type Subscription } from '../events/event-bus.ts'
import { listRuns } from './read-runs.ts'
import type { Sheet } from './sheet.ts'

/** How a sheet stands, so that whoever shows it knows what to read again. Texts are opaque: they only differ. */
export interface SheetState {
  /** The seq of the last provenance entry; changes whenever a value does. */
  readonly seq: number
  /** Changes whenever a run begins, goes on or ends. */
  readonly runs: string
  /** Changes whenever the contract or a derivation file does, or breaks, or is mended. */
  readonly definition: string
}

/** A sheet to watch: how it stands, and how to hear of what becomes of it. */
export interface SheetWatch {
  readonly first: readonly SheetState[]
  /** See {@link EventBus.subscribe}. */
  subscribe(wake: () => void, sizeOf?: SizeOf<SheetState>): Subscription<SheetState>
}

/** How often a sheet that somebody watches is looked at: other processes write as well, and files are edited. */
const LOOK_MS = 250

/** The newest runs, one of which a run under way is. */
const RUNS_LOOKED_AT = 5

/** The sheets that are watched: however many watch one, it is looked at once. */
const WATCHED = new WeakMap<Sheet, EventBus<SheetState>>()

/** Watches a sheet for as long as somebody listens. */
export async function watchSheet(sheet: Sheet): Promise<SheetWatch> {
  const first = await readState(sheet)
  return { first: [first], subscribe: (...subscriber) => watched(sheet, first).subscribe(...subscriber) }
}

function watched(sheet: Sheet, first: SheetState): EventBus<SheetState> {
  const known = WATCHED.get(sheet)
  if (known !== undefined) return known
  const bus = new EventBus<SheetState>()
  WATCHED.set(sheet, bus)
  const end = (): void => {
    // First, so that nobody joins what has ended.
    WATCHED.delete(sheet)
    bus.close()
  }
  let before = first
  const look = async (): Promise<void> => {
    if (bus.size === 0 || sheet.stopping.aborted) return end()
    const now = await readState(sheet)
    if (now.seq !== before.seq || now.runs !== before.runs || now.definition !== before.definition)
      bus.publish(now)
    before = now
    later()
  }
  const later = (): void => void setTimeout(() => void look().catch(end), LOOK_MS).unref()
  later()
  return bus
}

async function readState(sheet: Sheet): Promise<SheetState> {
  const definition = await definitionOf(sheet)
  try {
    const { store } = await sheet.current()
    const { last } = await store.history()
    const { runs } = await listRuns(sheet, { limit: RUNS_LOOKED_AT, cursor: null })
    const stands = runs.map(({ id, state, done, calls }) => [id, state, done, calls])
    return { seq: last, runs: JSON.stringify(stands), definition }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // A sheet that cannot be read has nothing more to tell until it is mended.
    return { seq: 0, runs: '', definition }
  }
}

async function definitionOf(sheet: Sheet): Promise<string> {
  const hash = createHash('sha256')
  try {
    const { contract, derivations } = await sheet.deriving()
    hash.update(contract.text)
    for (const { file, sha256 } of derivations.levels.flat()) hash.update(`${file} ${sha256}`)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    hash.update(`broken ${error.message}`)
  }
  return hash.digest('base64url')
}
