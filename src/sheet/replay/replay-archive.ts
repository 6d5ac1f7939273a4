import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { placeholderOf } from '../../derivation/transport/headers/fill-headers.ts'
import { RecordingIndex } from '../../derivation/recording/recording-index.ts'
import { ReplayTransport } from '../../derivation/transport/network/replay-transport.ts'
import { ValidationError } from '../../errors/service-error.ts'
import type { FileSource } from '../../files/io/raw-records.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { RunId, StoredRun } from '../../store/stored-run.ts'
import { noCalls } from '../calls/no-calls.ts'
import { openSheet, type SheetOptions } from '../open-sheet.ts'
import type { Derivations } from '../definition/definition-files.ts'
import { startMaterialize } from '../runs/materialize.ts'
import { RUN_LIMITS } from '../runs/selection/run-limits.ts'
import type { Sheet } from '../sheet.ts'
import { RECORDING } from '../transfer/archive-format.ts'
import { unpackArchive } from '../transfer/unpack-archive.ts'
import { cellsToReplay, type CellsToReplay, type ReplayGroup } from './cells-to-replay.ts'
import { CellComparison } from './compare-cells.ts'
import type { ReplayReport, RunDifference } from './replay-report.ts'
import { readReplacements, writeDefinition, writeRecordsBefore } from './replay-copy.ts'

export interface ReplayRequest {
  readonly file: FileSource
  /** The maximum size of the unpacked archive, in bytes. */
  readonly maxBytes: number
  /** A directory with definition files that replace those of the archive; null for none. */
  readonly replacements: string | null
  /** Whether scripts of the archive may run, without a network; cells of scripts are left out otherwise. */
  readonly scripts: Exclude<SheetOptions['scripts'], 'unconfined'>
  readonly signal: AbortSignal
}

/** The actor of runs whose recorded run was removed. */
const REPLAYER = 'system'

/** The most characters of the ids of one run. */
const IDS_AT_ONCE = 1 << 20

/**
 * Computes the cells of an archive again, from its recording, and compares them. It opens no socket: a request that is not in the recording
 * fails its cells. The archive and everything else is unchanged: the replay takes place in a copy in the directory for temporary files.
 * Throws ValidationError for an archive without a recording, ContractError for a definition that is not valid, and the signal's reason.
 */
export async function replayArchive(request: ReplayRequest): Promise<ReplayReport> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-replay-'))
  try {
    return await replayIn(directory, request)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function replayIn(directory: string, request: ReplayRequest): Promise<ReplayReport> {
  const { file, maxBytes, scripts, signal } = request
  const [before, after] = [join(directory, 'archive'), join(directory, 'replay')]
  await mkdir(before)
  await mkdir(after)
  await unpackArchive(file, before, { maxBytes, signal, withRecording: true })
  const recording = await openRecording(join(before, RECORDING), file.name)
  try {
    const archive = await openSheet(before, { transport: noCalls(), env: PLACEHOLDERS, scripts })
    try {
      const { cells, archived } = await writeCopy(archive, after, { recording, request })
      signal.throwIfAborted()
      const transport = new ReplayTransport(recording)
      const copy = await openSheet(after, { transport, env: PLACEHOLDERS, scripts })
      try {
        return await new Replay({ archived, copy, cells, transport, signal }).run()
      } finally {
        await copy.close()
      }
    } finally {
      await archive.close()
    }
  } finally {
    recording.close()
  }
}

async function openRecording(path: string, name: string): Promise<RecordingIndex> {
  if (!existsSync(path)) {
    throw new ValidationError(
      `${name} has no ${RECORDING}; export it with --format archive --with-recording`,
      'invalid_archive',
    )
  }
  return RecordingIndex.open(path, (line) => {
    throw new ValidationError(
      `${name}: line ${line} of ${RECORDING} is not a call; the archive is damaged, or was changed`,
      'invalid_archive',
    )
  })
}

/** Writes the sheet as it was before its cells were computed, with the changed definition. */
async function writeCopy(
  archive: Sheet,
  directory: string,
  { recording, request }: { readonly recording: RecordingIndex; readonly request: ReplayRequest },
): Promise<{ readonly cells: CellsToReplay; readonly archived: Archived }> {
  const { store, contract, derivations } = await archive.deriving()
  const { files } = await archive.definition()
  const { replacements } = request
  const replaced =
    replacements === null
      ? new Map<string, Uint8Array>()
      : await readReplacements(replacements, archive.definitionFiles())
  const changed = files.withChanges(replaced)
  const ownContract = changed.contract()
  const cells = await cellsToReplay({
    store,
    derivations,
    replayed: await changed.derivations(ownContract),
    isRecorded: ({ recordId, field }) => !recording.notRecorded.has(`${recordId}\0${field}`),
  })
  const definition = new Map(changed.all().map(({ path, bytes }) => [path, bytes]))
  const transport = replaced.get('transport.yaml')
  if (transport !== undefined) definition.set('transport.yaml', transport)
  await writeDefinition(directory, definition)
  await writeRecordsBefore(directory, ownContract, { store, cells, known: contract })
  return { cells, archived: { store, derivations } }
}

interface Archived {
  readonly store: SheetStore
  readonly derivations: Derivations
}

interface ReplayParts {
  readonly archived: Archived
  readonly copy: Sheet
  readonly cells: CellsToReplay
  readonly transport: ReplayTransport
  readonly signal: AbortSignal
}

/** Sums of the runs that repeat a recorded one. */
interface RunSums {
  calls: number
  totalCost: number
  /** False if the recorded run can have made other calls: it took results from runs that are not replayed, or it made one call for several of these runs. */
  isComparable: boolean
  /** The derivations whose calls were made. */
  readonly files: Set<string>
}

class Replay {
  readonly #parts: ReplayParts
  readonly #sums = new Map<RunId, RunSums>()

  constructor(parts: ReplayParts) {
    this.#parts = parts
  }

  async run(): Promise<ReplayReport> {
    const { archived, copy, cells, transport, signal } = this.#parts
    const { store, derivations } = await copy.deriving()
    for (const groups of cells.levels) {
      for (const group of groups) {
        this.#noteGroup(derivations, group)
        for (const recordIds of inPieces(group.recordIds)) {
          await this.#compute(store, group, recordIds)
          signal.throwIfAborted()
        }
      }
    }
    const comparison = new CellComparison(archived, { store, derivations }, cells)
    await comparison.compareAll()
    const { cells: count, equal, differentCosts, missed, notComputed, different, digest } = comparison
    const sums = [...this.#sums.values()]
    return {
      runs: cells.cellsOfRuns.size,
      cells: count,
      equal,
      differentCosts: differentCosts.list(),
      calls: transport.answered,
      totalCost: inBillionths(sums.reduce((sum, { totalCost }) => sum + totalCost, 0)),
      missed: missed.list(),
      notComputed: notComputed.list(),
      different: different.list(),
      differentRuns: await this.#differentRuns(),
      leftOut: cells.leftOut,
      digest,
    }
  }

  /** Computes cells of a recorded run as that did: with new calls, or with the results of earlier ones. */
  async #compute(
    store: SheetStore,
    { run, targets, isCached }: ReplayGroup,
    recordIds: readonly string[],
  ): Promise<void> {
    const { archived, copy, transport, signal } = this.#parts
    const recorded = await archived.store.run(run)
    transport.run = run
    const before = transport.fromOtherRuns
    const started = await startMaterialize(copy, {
      targets: [...targets],
      recordIds: [...recordIds],
      force: !isCached,
      reuseResponses: isCached && recorded?.reuseResponses === true,
      stopAfterFailures: null,
      actor: recorded?.actor ?? REPLAYER,
    })
    const cancel = (): void => copy.runs.get(started.id)?.cancel(REPLAYER)
    signal.addEventListener('abort', cancel)
    try {
      await started.done
    } finally {
      signal.removeEventListener('abort', cancel)
    }
    const row = await store.run(started.id)
    const sums = this.#sumsOf(run)
    sums.calls += row?.calls ?? 0
    sums.totalCost += row?.totalCost ?? 0
    sums.isComparable &&= transport.fromOtherRuns === before
  }

  /** Notes a group: equal calls of several groups, or of the pieces of a large one, are made more than once. */
  #noteGroup({ byTarget }: Derivations, { run, targets, isCached, recordIds }: ReplayGroup): void {
    if (isCached) return
    const sums = this.#sumsOf(run)
    const file = byTarget.get(targets[0] ?? '')?.file ?? ''
    if (sums.files.has(file) || [...inPieces(recordIds)].length > 1) sums.isComparable = false
    sums.files.add(file)
  }

  #sumsOf(run: RunId): RunSums {
    const sums = this.#sums.get(run) ?? { calls: 0, totalCost: 0, isComparable: true, files: new Set() }
    this.#sums.set(run, sums)
    return sums
  }

  /** Compares calls and costs of the recorded runs of which each cell was replayed. */
  async #differentRuns(): Promise<readonly RunDifference[]> {
    const { archived, cells } = this.#parts
    const differences: RunDifference[] = []
    for (const [run, { calls, totalCost, isComparable }] of this.#sums) {
      const recorded = await archived.store.run(run)
      if (recorded === null || !isComparable || !isWhole(recorded, cells.cellsOfRuns.get(run) ?? 0)) continue
      const costs = [inBillionths(totalCost), inBillionths(recorded.totalCost)] as const
      if (calls !== recorded.calls)
        differences.push({ run, what: 'calls', replayed: calls, recorded: recorded.calls })
      if (costs[0] !== costs[1])
        differences.push({ run, what: 'total_cost', replayed: costs[0], recorded: costs[1] })
    }
    return differences.toSorted((one, other) => Number(one.run) - Number(other.run))
  }
}

/** Whether all cells that a run computed are among so many that were replayed. */
function isWhole({ kind, state, materialized, failed }: StoredRun, replayed: number): boolean {
  return kind === 'materialize' && state === 'finished' && materialized + failed === replayed
}

/** Rounds a sum of dollars: sums of floating-point numbers depend on their order. */
function inBillionths(dollars: number): number {
  return Math.round(dollars * 1e9) / 1e9
}

/** Divides ids into pieces that one run takes. */
function* inPieces(ids: readonly string[]): Generator<readonly string[]> {
  let piece: string[] = []
  let size = 0
  for (const id of ids) {
    piece.push(id)
    size += id.length
    if (size < IDS_AT_ONCE && piece.length < RUN_LIMITS.records) continue
    yield piece
    piece = []
    size = 0
  }
  if (piece.length > 0) yield piece
}

/** Environment variables whose values are their placeholders, as the recording has them: a replay needs no secrets. */
const PLACEHOLDERS: NodeJS.ProcessEnv = new Proxy<NodeJS.ProcessEnv>(
  {},
  {
    get: (_, name) => (typeof name === 'string' ? placeholderOf(name) : undefined),
    has: () => true,
    getOwnPropertyDescriptor: (_, name) =>
      typeof name === 'string'
        ? { value: placeholderOf(name), configurable: true, enumerable: true, writable: true }
        : undefined,
  },
)
