/** The plan of a cell by the definitions alone: all that its value is computed from, or why nothing is computed. */
export type OraclePlan = { readonly from: string } | 'blocked' | 'skipped' | 'failed'

interface OracleCell {
  state: 'fresh' | 'stale' | 'missing' | 'failed' | 'overridden'
  /** What it was last computed from. */
  computed: string | null
}

/** Makes a failed cell what it was before. */
function forget(cell: OracleCell): void {
  cell.state = cell.computed === null ? 'missing' : 'stale'
}

/** The states of the cells of a target by the rules alone (D25, D28, D32): after each edit of a source all of them are planned anew. */
export class CellOracle {
  readonly #cells: Map<string, OracleCell>
  readonly #plan: (id: string) => OraclePlan

  constructor(ids: readonly string[], plan: (id: string) => OraclePlan) {
    this.#cells = new Map(ids.map((id) => [id, { state: 'missing', computed: null }]))
    this.#plan = plan
  }

  /** Applies an edit of a source: fresh cells that would be computed from something else are stale, and failed ones that are skipped no longer failed. */
  edited(): void {
    for (const [id, cell] of this.#cells) {
      if (cell.state !== 'fresh' && cell.state !== 'failed') continue
      const planned = this.#plan(id)
      const isSame = typeof planned === 'object' && planned.from === cell.computed
      if (cell.state === 'fresh' && planned !== 'blocked' && !isSame) cell.state = 'stale'
      if (cell.state === 'failed' && planned === 'skipped') forget(cell)
    }
  }

  /** Applies an edit of the derivation file, or of a field that its query reads in all records. */
  redefined(): void {
    for (const cell of this.#cells.values()) if (cell.state === 'fresh') cell.state = 'stale'
  }

  /** Applies another value of an input. */
  written(id: string): void {
    const cell = this.#cell(id)
    if (cell.state === 'fresh') cell.state = 'stale'
  }

  created(id: string): void {
    this.#cells.set(id, { state: 'missing', computed: null })
  }

  deleted(id: string): void {
    this.#cells.delete(id)
  }

  /** Applies a value written by hand; null ends that. */
  writtenByHand(id: string, value: unknown): void {
    Object.assign(this.#cell(id), { state: value === null ? 'missing' : 'overridden', computed: null })
  }

  isOverridden(id: string): boolean {
    return this.#cell(id).state === 'overridden'
  }

  ran(ids: readonly string[]): void {
    for (const id of ids) {
      const cell = this.#cell(id)
      if (cell.state === 'fresh' || cell.state === 'overridden') continue
      const planned = this.#plan(id)
      if (planned === 'failed') cell.state = 'failed'
      else if (typeof planned === 'object') Object.assign(cell, { state: 'fresh', computed: planned.from })
      else if (planned === 'skipped' && cell.state === 'failed') forget(cell)
    }
  }

  /** The states as they are shown, in the order of the ids: a pending cell is blocked while an input prevents that it is computed. */
  states(ids: readonly string[]): readonly string[] {
    return ids.map((id) => {
      const { state } = this.#cell(id)
      const isPending = state !== 'fresh' && state !== 'overridden'
      return isPending && this.#plan(id) === 'blocked' ? 'blocked' : state
    })
  }

  /** The number of cells in each state, whether or not an input blocks them. */
  counts(): Readonly<Record<OracleCell['state'], number>> {
    const counts = { fresh: 0, stale: 0, missing: 0, failed: 0, overridden: 0 }
    for (const { state } of this.#cells.values()) counts[state] += 1
    return counts
  }

  #cell(id: string): OracleCell {
    const cell = this.#cells.get(id)
    if (cell === undefined) throw new Error(`no record ${id}`)
    return cell
  }
}

/** A table with a row, or several, for each key. */
export type OracleRows = Map<string, readonly string[]>

/** Returns the plan of a look-up of a key: its rows decide. */
export function lookUpPlan(rows: OracleRows, key: string | null, file = ''): OraclePlan {
  if (key === null) return 'blocked'
  const [label, ...more] = rows.get(key) ?? []
  if (label === undefined) return 'skipped'
  return more.length > 0 ? 'failed' : { from: JSON.stringify([file, key, label]) }
}

/** Returns the table as CSV, with the columns `code` and `label`. */
export function csvOf(rows: OracleRows): string {
  const lines = [...rows].flatMap(([key, labels]) => labels.map((label) => `${key},${label}`))
  return ['code,label', ...lines].join('\n')
}
