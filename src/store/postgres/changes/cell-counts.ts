import type { CellFacts } from './cell-writer.ts'
import { BLOCKED_COUNTERS } from '../../rows/blocked-sql.ts'
import { FAILED, MISSING, STALE } from '../../rows/stored-rows.ts'

/** Changes of the counters of targets (D32). */
export class CellCounts {
  readonly #deltas = new Map<number, Record<Counter, number>>()
  /** The ids of the targets whose queries read what was changed. */
  readonly #changedReads = new Set<number>()

  /** Notes that what the query of a target reads has changed. */
  changeRead(target: number): void {
    this.#changedReads.add(target)
  }

  moved(target: number, before: CellFacts, now: CellFacts): void {
    const [from, to] = [counterOf(before), counterOf(now)]
    for (const counter of COUNTERS) {
      const delta = Number(to.includes(counter)) - Number(from.includes(counter))
      if (delta !== 0) this.#of(target)[counter] += delta
    }
  }

  /** Adds the changes of `others`. */
  add(others: CellCounts): void {
    for (const target of others.#changedReads) this.#changedReads.add(target)
    for (const [target, deltas] of others.#deltas) {
      for (const counter of COUNTERS) this.#of(target)[counter] += deltas[counter]
    }
  }

  #of(target: number): Record<Counter, number> {
    const deltas = this.#deltas.get(target) ?? { ...NO_CHANGES }
    this.#deltas.set(target, deltas)
    return deltas
  }

  /** Returns the statements that change the counters, and the versions of fields that queries read; empty for none. */
  statements(lastSeq: number): string[] {
    const ids = [...this.#changedReads].join()
    const versions = ids === '' ? [] : [`UPDATE "$target" SET sources = '${lastSeq}' WHERE id IN (${ids})`]
    return versions.concat(
      [...this.#deltas].flatMap(([target, deltas]) => {
        const set = COUNTERS.filter((counter) => deltas[counter] !== 0)
          .map((counter) => `${counter} = ${counter} + (${deltas[counter]})`)
          .join(', ')
        return set === '' ? [] : [`UPDATE "$target" SET ${set} WHERE id = ${target}`]
      }),
    )
  }
}

const NO_CHANGES = {
  missing: 0,
  stale: 0,
  failed: 0,
  overridden: 0,
  blocked: 0,
  blocked_stale: 0,
  blocked_failed: 0,
}

type Counter = keyof typeof NO_CHANGES

const COUNTERS = Object.keys(NO_CHANGES) as Counter[]

const TODO_COUNTERS = { [MISSING]: 'missing', [STALE]: 'stale', [FAILED]: 'failed' } as const

/** Returns the counters that count a cell. */
function counterOf({ cell, todo }: CellFacts): readonly Counter[] {
  return [
    ...(cell?.hash === null ? ['overridden' as const] : []),
    ...(todo === null ? [] : [TODO_COUNTERS[todo.state]]),
    ...(todo?.blocked === true ? BLOCKED_COUNTERS[todo.state] : []),
  ]
}
