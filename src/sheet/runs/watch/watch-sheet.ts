import { createHash } from 'node:crypto'
import { ServiceError } from '../../../errors/service-error.ts'
import { EventBus, type SizeOf, type Subscription } from '../../../events/event-bus.ts'
import { listRuns } from '../read-runs.ts'
import type { Sheet } from '../../sheet.ts'

/** The state of a sheet, which shows clients what to read again. Texts are opaque: compare them only. */
export interface SheetState {
  /** The seq of the last provenance entry; changes whenever a value does. */
  readonly seq: number
  /** Changes whenever a run begins, progresses or ends. */
  readonly runs: string
  /** Increases whenever a proposal is made or decided. */
  readonly proposals: number
  /** Changes whenever the contract or a derivation file is edited, breaks, or is fixed. */
  readonly definition: string
}

/** A watched sheet: its present state, and a subscription to changes. */
export interface SheetWatch {
  readonly first: readonly SheetState[]
  /** See {@link EventBus.subscribe}. */
  subscribe(wake: () => void, sizeOf?: SizeOf<SheetState>): Subscription<SheetState>
}

/**
 * The interval, in milliseconds, at which a watched sheet is read, since other processes write and files are edited.
 */
const POLL_MS = 250

/** The number of newest runs that are compared; a run under way is among them. */
const RUNS_COMPARED = 5

/** A watched sheet: one poll for all watchers. */
interface Watched {
  readonly bus: EventBus<SheetState>
  /** The last published state. */
  before: SheetState
  /** Whether a subscriber joined that has another state: the next poll publishes in any case. */
  publishAlways: boolean
}

const WATCHED = new WeakMap<Sheet, Watched>()

/** Watches a sheet while it has subscribers. */
export async function watchSheet(sheet: Sheet): Promise<SheetWatch> {
  const first = await readState(sheet)
  return { first: [first], subscribe: (...subscriber) => watched(sheet, first).bus.subscribe(...subscriber) }
}

function watched(sheet: Sheet, first: SheetState): Watched {
  const known = WATCHED.get(sheet)
  if (known !== undefined) {
    // A change may have been published while `first` was being read.
    known.publishAlways ||= !isSame(first, known.before)
    return known
  }
  const watch: Watched = { bus: new EventBus(), before: first, publishAlways: false }
  WATCHED.set(sheet, watch)
  const end = (): void => {
    // First, so that nobody subscribes to a closed bus.
    WATCHED.delete(sheet)
    watch.bus.close()
  }
  const poll = async (): Promise<void> => {
    if (watch.bus.size === 0 || sheet.stopping.aborted) return end()
    const now = await readState(sheet)
    if (watch.publishAlways || !isSame(now, watch.before)) watch.bus.publish(now)
    watch.publishAlways = false
    watch.before = now
    later()
  }
  const later = (): void => void setTimeout(() => void poll().catch(end), POLL_MS).unref()
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
    const { runs } = await listRuns(sheet, { limit: RUNS_COMPARED, cursor: null })
    const stands = runs.map(({ id, state, done, calls }) => [id, state, done, calls])
    const { changes: proposals } = await store.proposals.counts()
    return { seq: last, runs: JSON.stringify(stands), proposals, definition }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // A sheet that cannot be read has no changes until it is fixed.
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
