import type { Derivation } from '../../derivation/definition/derivation-kind.ts'
import type { CellOfRun } from '../../derivation/run-request.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import type { RunId } from '../../store/stored-run.ts'
import type { Derivations } from '../definition/definition-files.ts'
import {
  computedRecords,
  lastStep,
  type ComputedCell,
  type ComputedRecord,
} from '../recording/computed-cells.ts'
import { runOfEntry, RunsOfFailures } from '../recording/runs-of-cells.ts'
import { DefinitionChanges } from './definition-changes.ts'
import { Listing, type LeftOut } from './replay-report.ts'

/** Cells that one run of a replay computes: of one recorded run and one derivation. */
export interface ReplayGroup {
  readonly run: RunId
  readonly targets: readonly string[]
  /** Whether the cells used the result of another call: the cache, or a kept response. */
  readonly isCached: boolean
  readonly recordIds: string[]
}

/** The cells of an archive that can be computed from its recording. */
export interface CellsToReplay {
  /** By the level of their derivation: each depends on earlier ones only. */
  readonly levels: readonly (readonly ReplayGroup[])[]
  readonly leftOut: readonly LeftOut[]
  /** Recorded runs with the number of their replayed cells. */
  readonly cellsOfRuns: ReadonlyMap<RunId, number>
  has(recordId: string, field: string): boolean
}

/** Failures that come from the machine of the run, or of cells that no replay can compute. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set(['refused', 'no_stub_response', 'not_recorded'])

const FAILED_OTHERWISE = 'failed before its derivation, a file that this reads, or the contract changed'

/** The archive's store, its derivations, and those of the replay, which may be changed. */
interface Archived {
  readonly store: SheetStore
  readonly derivations: Derivations
  readonly replayed: Derivations
  /** Whether the recording covers a cell. */
  isRecorded(cell: CellOfRun): boolean
}

/** Finds the computed cells of an archive, and the runs that computed them. */
export async function cellsToReplay(archived: Archived): Promise<CellsToReplay> {
  const { store, derivations, replayed } = archived
  const runs = new RunsOfFailures(store)
  const changes = await DefinitionChanges.read(store)
  const leftOut = new Map<string, Listing<CellOfRun>>()
  const included = new Map<string, Set<string>>()
  const cellsOfRuns = new Map<RunId, number>()
  const levels = replayed.levels.map(() => new Map<string, ReplayGroup>())
  const levelOf = new Map(
    replayed.levels.flatMap((level, index) =>
      level.flatMap(({ targets }) => targets.map((target) => [target, index] as const)),
    ),
  )
  for (const derivation of derivations.levels.flat()) {
    for await (const records of computedRecords(store, derivation)) {
      for (const record of records) {
        const { id } = record.item
        const groups = new Map<string, { run: RunId; isCached: boolean; targets: string[] }>()
        for (const cell of record.cells) {
          const of = { recordId: id, field: cell.target }
          const reason = await reasonToLeaveOut({ ...archived, changes }, derivation, { record, cell })
          if (reason !== null) {
            const listing = leftOut.get(reason) ?? new Listing<CellOfRun>()
            leftOut.set(reason, listing)
            listing.add(of)
            continue
          }
          const entry = cell.state === 'fresh' ? await cell.entry() : null
          const run = cell.state === 'fresh' ? runOfEntry(entry) : await runs.of(of)
          const isCached = entry?.['cached'] === true
          const level = levelOf.get(cell.target) ?? 0
          const name = `${level} ${run} ${isCached ? 'cached' : ''}`
          const group = groups.get(name) ?? { run, isCached, targets: [] }
          groups.set(name, group)
          group.targets.push(cell.target)
          included.set(cell.target, (included.get(cell.target) ?? new Set()).add(id))
          cellsOfRuns.set(run, (cellsOfRuns.get(run) ?? 0) + 1)
        }
        for (const group of groups.values()) {
          const level = levels[levelOf.get(group.targets[0] ?? '') ?? 0]
          const name = JSON.stringify([derivation.file, group])
          const known = level?.get(name) ?? { ...group, recordIds: [] }
          level?.set(name, known)
          known.recordIds.push(id)
        }
      }
    }
  }
  return {
    levels: levels.map((groups) => [...groups.values()].toSorted(inOrder)),
    leftOut: [...leftOut].map(([reason, cells]) => ({ reason, ...cells.list() })),
    cellsOfRuns,
    has: (recordId, field) => included.get(field)?.has(recordId) === true,
  }
}

/** Compares by run; what a run computed by itself comes before what it took from there. */
function inOrder(one: ReplayGroup, other: ReplayGroup): number {
  return Number(one.run) - Number(other.run) || Number(one.isCached) - Number(other.isCached)
}

/** Returns the reason why a cell is not replayed; null if it is. */
async function reasonToLeaveOut(
  { replayed, changes, isRecorded }: Archived & { readonly changes: DefinitionChanges },
  derivation: Derivation,
  { record, cell }: { readonly record: ComputedRecord; readonly cell: ComputedCell },
): Promise<string | null> {
  const { file } = derivation
  const present = replayed.byTarget.get(cell.target)
  if (present === undefined) return `${file} does not compute the field in the replay`
  if (cell.state === 'stale') return 'stale: its inputs or its derivation changed since it was computed'
  if (present.sheetPaths.length > 0) return `${file} reads another sheet, which is not in the archive`
  const refusal = refusalOf(present, cell.state === 'fresh' ? lastStep(await cell.entry()) : null)
  if (refusal !== null) return refusal
  if (cell.state === 'failed') {
    if (await cell.isOutdated()) return 'failed before one of its inputs was written'
    if (changes.since(cell.failure, derivation, record.item)) return FAILED_OTHERWISE
    if (OF_THE_MACHINE.has(cell.failure.reason ?? '')) return 'failed for a reason of the machine that ran it'
  } else if (typeof (await cell.entry())?.['run_id'] !== 'string') return 'its value comes from no run'
  return isRecorded({ recordId: record.item.id, field: cell.target })
    ? null
    : 'its call is not in the recording'
}

/** Returns the reason why a derivation with its steps, up to the last one of a computation, is not carried out in a replay; null if it is. */
function refusalOf({ file, kind, spec, refusal }: Derivation, last: number | null): string | null {
  if (refusal !== null) return refusal
  if ((kind.variablesOf?.(spec) ?? []).length > 0)
    return `${file} has a script with env, whose values are not in the recording`
  const steps = (kind.stepsOfFile?.(spec) ?? []).filter(({ number }) => last === null || number <= last)
  return steps.map(({ derivation }) => refusalOf(derivation, null)).find((found) => found !== null) ?? null
}
