import type { Derivation } from '../../../derivation/definition/derivation-kind.ts'
import type { Planner } from '../../../derivation/plan/planner.ts'
import type { Level } from '../../../derivation/run/run-levels.ts'
import type { RecordKey } from '../../../store/cell-work.ts'
import type { LevelCut, RunTask, RunTasks } from '../../../store/run-tasks.ts'

/**
 * The most records of a task, and the fewest where there are few: enough to make up for the overhead, few enough to
 * share.
 */
export const MOST_RECORDS = 100
const LEAST_RECORDS = 8

/** The most records of a task whose computations are no calls: storing takes most of its time, and larger sets are stored faster. */
const MOST_LOCAL_RECORDS = 2000

/** Tasks that each worker gets when records are few. */
const TASKS_EACH = 4

/** Keys of records read at a time. */
const KEYS = 10_000

type Piece = Omit<RunTask, 'run'>

/** Divides a level into tasks for so many workers. */
export function cutLevel(tasks: RunTasks, { planner, derivations }: Level, workers: number): LevelCut {
  const cut = { planner, workers, derivations: derivations.map(({ derivation }) => derivation) }
  return { tasks: () => pieces(tasks, cut), idle: derivations.reduce((sum, { idle }) => sum + idle, 0) }
}

interface Cut {
  readonly planner: Planner
  readonly derivations: readonly Derivation[]
  readonly workers: number
}

/**
 * Yields the tasks of a level, many at a time, alternating between derivations so that calls go to all of their hosts.
 * A run with bounds has one task for each derivation, whose calls start in the order of its records.
 */
async function* pieces(
  tasks: RunTasks,
  { planner, derivations, workers }: Cut,
): AsyncGenerator<readonly Piece[]> {
  const { maxCalls, maxCost } = planner.request
  const { lastKey, lastSeq, records: scope } = planner.scope
  const bounded = maxCalls !== null || maxCost !== null
  const piece = ({ file, sha256 }: Derivation, records: readonly RecordKey[] | null): Piece => ({
    derivation: file,
    sha256,
    records,
    lastKey,
    lastSeq,
    bounded,
  })
  if (bounded) {
    yield derivations.map((derivation) => piece(derivation, scope))
    return
  }
  const partsOf = async function* (derivation: Derivation): AsyncGenerator<readonly Piece[]> {
    for await (const keys of workKeys(tasks, planner, derivation)) {
      const most = derivation.kind.isLocal === true ? MOST_LOCAL_RECORDS : MOST_RECORDS
      yield inParts(keys, workers, most).map((records) => piece(derivation, records))
    }
  }
  for (let cutting = derivations.map(partsOf); cutting.length > 0;) {
    const lists: (readonly Piece[])[] = []
    const left: typeof cutting = []
    for (const parts of cutting) {
      const cut = await parts.next()
      if (cut.done === true) continue
      lists.push(cut.value)
      left.push(parts)
    }
    cutting = left
    yield interleaved(lists)
  }
}

/** Returns the first item of each list, then the second of each, and so on. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, index) => index).flatMap((index) =>
    lists.flatMap((list) => list.slice(index, index + 1)),
  )
}

async function* workKeys(
  tasks: RunTasks,
  { request, scope }: Planner,
  derivation: Derivation,
): AsyncGenerator<readonly RecordKey[]> {
  const { force, only: state } = request
  const query = {
    targets: derivation.targets.filter((target) => request.targets.has(target)),
    force: force && state === null,
    state,
    ready: true,
    limit: KEYS,
  }
  for (let start = 0; ; start += KEYS) {
    const only = scope.records?.slice(start, start + KEYS) ?? null
    if (only?.length === 0) return
    for (let after: RecordKey | null = null; ;) {
      const keys: readonly RecordKey[] = await tasks.workKeys({ ...query, only, after })
      request.signal.throwIfAborted()
      const wanted = keys.filter((key) => key <= scope.lastKey)
      if (wanted.length > 0) yield wanted
      if (keys.length < KEYS || wanted.length < keys.length) break
      after = keys.at(-1) ?? null
    }
    if (only === null) return
  }
}

function inParts(keys: readonly RecordKey[], workers: number, most: number): (readonly RecordKey[])[] {
  const fair = Math.ceil(keys.length / (workers * TASKS_EACH))
  const size = Math.min(most, Math.max(LEAST_RECORDS, fair))
  return Array.from({ length: Math.ceil(keys.length / size) }, (_, index) =>
    keys.slice(index * size, (index + 1) * size),
  )
}
