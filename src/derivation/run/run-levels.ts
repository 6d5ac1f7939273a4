import type { Derivation } from '../definition/derivation-kind.ts'
import { checkReads } from '../plan/check-sources.ts'
import type { Planner } from '../plan/planner.ts'

/** A level of a run: derivations that depend on earlier levels only. */
export interface Level {
  /** Counts from 0. */
  readonly number: number
  readonly planner: Planner
  readonly derivations: readonly {
    readonly derivation: Derivation
    /** See {@link Planner.idleCells}. */
    readonly idle: number
  }[]
}

/** The tasks of a run; a task is cells of one derivation. */
export interface LevelTasks {
  /** Divides a level into tasks. */
  add(level: Level): Promise<void>
  /**
   * Resolves when all tasks are computed and their results are stored. Rejects with the reason of the run's signal, with the error that
   * broke a task, and with RunStoppedError when calls fail in a row.
   */
  settled(): Promise<void>
}

/** Computes a run level by level (D27). `begun` levels have been divided into tasks before. */
export async function runLevels(planner: Planner, tasks: LevelTasks, begun = 0): Promise<void> {
  const { store, signal } = planner.request
  for (const [number, derivations] of levelsOf(planner).entries()) {
    if (number >= begun) {
      signal.throwIfAborted()
      await checkReads(store, derivations)
      const status = await store.status()
      await tasks.add({
        number,
        planner,
        derivations: derivations.map((derivation) => ({
          derivation,
          idle: planner.idleCells(derivation, status),
        })),
      })
    }
    await tasks.settled()
  }
}

/**
 * Returns the derivations in levels. A run with bounds computes them one after another, so that a dry run can predict
 * what the bounds leave for each.
 */
function levelsOf({ request, derivations }: Planner): (readonly Derivation[])[] {
  if (request.maxCalls !== null || request.maxCost !== null)
    return derivations.map((derivation) => [derivation])
  const wanted = new Set(derivations)
  return request.levels
    .map((level) => level.filter((derivation) => wanted.has(derivation)))
    .filter((level) => level.length > 0)
}
