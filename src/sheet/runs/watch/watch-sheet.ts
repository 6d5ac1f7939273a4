import { createHash } from 'node:crypto'
import { ServiceError } from '../../../errors/service-error.ts'
import { EventBus, type SizeOf, type Subscription } from '../../../events/event-bus.ts'
import { listRuns } from '../read-runs.ts'
import type { Sheet } from '../../sheet.ts'

/** How a sheet stands, so that whoever shows it knows what to read again. Texts are opaque: they only differ. */
export interface SheetState {
  /** The seq of the last provenance entry; changes whenever a value does. */
  readonly seq: number
  /** Changes whenever a run begins, goes on or ends. */
  readonly runs: string
  /** Counts up whenever a proposal is made or decided. */
  readonly proposals: number
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

/** A sheet that somebody watches: however many do, it is looked at once. */
interface Watched {
  readonly bus: EventBus<SheetState>
  /** What was told last. */
  before: SheetState
  /** Whether somebody has joined who was told something else: the next look tells how it stands in any case. */
  tellAnyhow: boolean
}

const WATCHED = new WeakMap<Sheet, Watched>()

/** Watches a sheet for as long as somebody listens. */
export async function watchSheet(sheet: Sheet): Promise<SheetWatch> {
  const first = await readState(sheet)
  return { first: [first], subscribe: (...subscriber) => watched(sheet, first).bus.subscribe(...subscriber) }
}

function watched(sheet: Sheet, first: SheetState): Watched {
  const known = WATCHED.get(sheet)
  if (known !== undefined) {
    // A change may have been told while `first` was being read.
    known.tellAnyhow ||= !isSame(first, known.before)
    return known
  }
  const watch: Watched = { bus: new EventBus(), before: first, tellAnyhow: false }
  WATCHED.set(sheet, watch)
  const end = (): void => {
    // First, so that nobody joins what has ended.
    WATCHED.delete(sheet)
    watch.bus.close()
  }
  const look = async (): Promise<void> => {
    if (watch.bus.size === 0 || sheet.stopping.aborted) return end()
    const now = await readState(sheet)
    if (watch.tellAnyhow || !isSame(now, watch.before)) watch.bus.publish(now)
    watch.tellAnyhow = false
    watch.before = now
    later()
  }
  const later = (): void => void setTimeout(() => void look().catch(end), LOOK_MS).unref()
  later()
  return watch
}

function isSame(one: SheetState, other: SheetState): boolean {
  return (
    one.seq === other.seq &&
    one.runs === other.runs &&
    one.proposals === other.proposals &&
    one.definition === other.definition
  )
}

async function readState(sheet: Sheet): Promise<SheetState> {
  const definition = await definitionOf(sheet)
  try {
    const { store } = await sheet.current()
    const { last } = await store.history()
    const { runs } = await listRuns(sheet, { limit: RUNS_LOOKED_AT, cursor: null })
    const stands = runs.map(({ id, state, done, calls }) => [id, state, done, calls])
    const { changes: proposals } = await store.proposals.counts()
    return { seq: last, runs: JSON.stringify(stands), proposals, definition }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // A sheet that cannot be read has nothing more to tell until it is mended.
    return { seq: 0, runs: '', proposals: 0, definition }
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
