import { load, type Loaded, type Steps } from '../steps.ts'
import { groupNumber } from '../../../errors/failure-group.ts'
import { readyCounts, type FilterState } from '../../cell-state.ts'
import { matchesGlob } from '../../../contract/values/glob.ts'
import type {
  CellCondition,
  Condition,
  FailureCondition,
  ReviewCondition,
  RunCondition,
  StateCondition,
  WriterCondition,
} from '../../condition.ts'
import type { Query } from '../../rows/query.ts'
import { runNumber } from '../../rows/stored-rows.ts'
import {
  FIELDS_OF_PART,
  NUMBERED_FIELDS,
  WRITERS,
  type NumberedField,
  type StoredWriter,
} from '../../rows/written-values.ts'
import { STATE_ROWS, type StateIndex } from '../../rows/state-tables.ts'

/** A derived field, with the number of its cells in each state that users see. */
export type CountedTarget = { readonly id: number; readonly field: string } & Readonly<
  Record<FilterState, number>
>

/** Reads the active derived fields with their counters. */
export const COUNTED_TARGETS: Query<readonly CountedTarget[]> = {
  sql: `SELECT id, field, missing, stale, failed, overridden, blocked, blocked_stale, blocked_failed,
      (SELECT records FROM "$sheet") AS records
    FROM "$target" WHERE active ORDER BY id`,
  params: [],
  result: (rows) =>
    rows.map((row) => {
      const [missing, stale, failed] = [Number(row['missing']), Number(row['stale']), Number(row['failed'])]
      const [overridden, blocked] = [Number(row['overridden']), Number(row['blocked'])]
      const fresh = Number(row['records']) - missing - stale - failed - overridden
      const [blockedStale, blockedFailed] = [Number(row['blocked_stale']), Number(row['blocked_failed'])]
      return {
        id: Number(row['id']),
        field: String(row['field']),
        fresh,
        ...readyCounts({ missing, stale, failed, blocked, blockedStale, blockedFailed }),
        overridden,
        blocked,
      }
    }),
}

/** The facts of a state of a store by which conditions on cells are compiled. */
export interface CellFacts {
  readonly targets: readonly CountedTarget[]
  readonly writers: readonly StoredWriter[]
  readonly fields: readonly NumberedField[]
}

/** Reads the facts that some conditions need. */
export function* cellFacts(
  conditions: readonly CellCondition[],
  read: <T>(query: Query<T>) => Loaded<T>,
): Steps<CellFacts> {
  const isOnWriters = conditions.some(({ kind }) => kind === 'writer')
  return {
    targets: conditions.length === 0 ? [] : yield* load(read(COUNTED_TARGETS)),
    writers: isOnWriters ? yield* load(read(WRITERS)) : [],
    fields: isOnWriters ? yield* load(read(NUMBERED_FIELDS)) : [],
  }
}

/** The SQL of an engine for records with cells that meet a condition. */
export interface CellDialect {
  /** Returns the condition that the key of a record is among the few that a SELECT returns. */
  amongFew(records: string): string
  /** The same for many keys; each SELECT of `ofRecord` returns a row if the record is among those of one state. */
  amongMany(records: string, ofRecord: readonly string[]): string
  /** Returns what follows a table in FROM to read it by an index. */
  readBy(index: StateIndex): string
}

/**
 * Cells from which on no list is made of their records, which would take 0.1 s: looked up in the order of the records, they fill a
 * page soon.
 */
const MANY_CELLS = 250_000

/** Compiles conditions on cells for one state of a store. */
export class CellConditionSql {
  readonly #facts: CellFacts
  readonly #dialect: CellDialect

  constructor(facts: CellFacts, dialect: CellDialect) {
    this.#facts = facts
    this.#dialect = dialect
  }

  /** Returns the condition that the record of a row of `"$data"` has a cell that meets a condition. */
  compile(condition: CellCondition): string {
    const records = this.records(condition)
    if (condition.kind === 'writer') {
      const writers = this.#writersOf(condition)
      const parts = writers.reduce((sum, writer) => sum + writer.parts, 0)
      if (parts === 0) return 'FALSE'
      if (parts < MANY_CELLS) return this.#dialect.amongFew(records)
      const ofRecord = `SELECT 1 FROM "$written" AS written
        WHERE written.record = "$data"."$seq" AND ${this.#isWritten(condition, writers)}`
      return this.#dialect.amongMany(records, [ofRecord])
    }
    if (condition.kind !== 'state') return this.#dialect.amongFew(records)
    const cells = this.#cellsIn(condition)
    if (cells === 0) return 'FALSE'
    if (cells < MANY_CELLS) return this.#dialect.amongFew(records)
    const ofRecord = condition.states.map((state) => {
      const { table, where } = STATE_ROWS[state]
      return `SELECT 1 FROM "${table}" AS cell
        WHERE ${this.#ofTargets(condition, state)} AND cell.record = "$data"."$seq" AND ${where}`
    })
    return this.#dialect.amongMany(records, ofRecord)
  }

  /** Returns a SELECT of the keys of these records, of some more than once. */
  records(condition: CellCondition): string {
    if (condition.kind === 'review') return reviewedRecords(condition)
    if (condition.kind === 'run') return recordsOfRuns(condition)
    if (condition.kind === 'failure') return this.#failedRecords(condition)
    if (condition.kind === 'writer')
      return `SELECT written.record FROM "$written" AS written
        WHERE ${this.#isWritten(condition, this.#writersOf(condition))}`
    const selects = condition.states.map((state) => {
      const { table, where, index } = STATE_ROWS[state]
      const by = index === null ? '' : this.#dialect.readBy(index)
      return `SELECT cell.record FROM "${table}" AS cell ${by} WHERE ${this.#ofTargets(condition, state)} AND ${where}`
    })
    return selects.join(' UNION ALL ')
  }

  /** Returns the number of these records if the counters have it, else null. */
  count(condition: CellCondition): number | null {
    if (condition.kind === 'writer') {
      const writers = this.#writersOf(condition)
      if (writers.length === 0) return 0
      const isOnePart = this.#facts.fields.every(
        ({ number, field }) => field !== null && number < FIELDS_OF_PART,
      )
      return isOnePart && condition.fields === null && writers.length === 1
        ? (writers[0]?.parts ?? null)
        : null
    }
    if (condition.kind !== 'state') return null
    if (this.#targetsOf(condition).length === 1) return this.#cellsIn(condition)
    return this.#cellsIn(condition) === 0 ? 0 : null
  }

  #cellsIn(condition: StateCondition): number {
    const targets = this.#targetsOf(condition)
    return condition.states.reduce(
      (all, state) => targets.reduce((sum, target) => sum + target[state], all),
      0,
    )
  }

  #failedRecords({ groups, ...ofFields }: FailureCondition): string {
    const numbers = groups.map(groupNumber).filter((number) => number !== null)
    const ids = this.#targetsOf(ofFields).map(({ id }) => id)
    if (numbers.length === 0 || ids.length === 0) return 'SELECT record FROM "$failure" WHERE FALSE'
    return `SELECT failure.record FROM "$failure" AS failure JOIN "$todo" AS todo
        ON todo.target = failure.target AND todo.record = failure.record AND NOT todo.blocked
      WHERE failure.alike IN (${numbers.join(', ')}) AND failure.target IN (${ids.join(', ')})`
  }

  #targetsOf({ fields }: Pick<StateCondition, 'fields'>): readonly CountedTarget[] {
    const { targets } = this.#facts
    return fields === null ? targets : targets.filter(({ field }) => fields.includes(field))
  }

  #writersOf({ actors, runs }: WriterCondition): readonly StoredWriter[] {
    const numbers = new Set(runs.map(runNumber))
    return this.#facts.writers.filter(
      ({ actor, run }) =>
        (run !== null && numbers.has(run)) || actors.some((pattern) => matchesGlob(pattern, actor)),
    )
  }

  /** Returns the condition that a row of `$written` is of one of these writers, and has one of the fields. */
  #isWritten({ fields }: WriterCondition, writers: readonly StoredWriter[]): string {
    const ids = writers.map(({ id }) => id)
    const isByOne = ids.length === 0 ? 'FALSE' : `written.writer IN (${ids.join(', ')})`
    const counted = this.#facts.fields.filter(
      ({ field }) => field !== null && (fields === null || fields.includes(field)),
    )
    if (counted.length === this.#facts.fields.length) return isByOne
    const parts = Map.groupBy(counted, ({ number }) => Math.floor(number / FIELDS_OF_PART))
    const hasOne = [...parts].map(([part, ofPart]) => {
      const bits = ofPart.reduce((sum, { number }) => sum + 2 ** (number % FIELDS_OF_PART), 0)
      return `written.part = ${part} AND (written.fields & ${bits}) <> 0`
    })
    return `${isByOne} AND (${hasOne.join(' OR ') || 'FALSE'})`
  }

  /** Selects the targets that have cells in a state: to find that a target has none may take reading all of its cells. */
  #ofTargets(condition: StateCondition, state: FilterState): string {
    const ids = this.#targetsOf(condition).flatMap((target) => (target[state] > 0 ? [target.id] : []))
    return ids.length === 0 ? 'FALSE' : `cell.target IN (${ids.join(', ')})`
  }
}

function reviewedRecords({ fields, verdicts }: ReviewCondition): string {
  const ofFields = fields === null ? '' : `AND review.field IN (${fields.map(literal).join(', ')})`
  return `SELECT review.record FROM "$review" AS review
    WHERE review.active AND review.verdict IN (${verdicts.map(literal).join(', ')}) ${ofFields}`
}

function recordsOfRuns({ runs }: RunCondition): string {
  const numbers = runs.map(runNumber).filter((number) => number !== null)
  const isOne = numbers.length === 0 ? 'FALSE' : `entry.run IN (${numbers.join(', ')})`
  return `SELECT entry.record FROM "$provenance" AS entry WHERE ${isOne} AND entry.record IS NOT NULL
    UNION ALL SELECT imported."$seq" FROM "$provenance" AS entry JOIN "$import" AS import ON import.seq = entry.seq
      JOIN "$data" AS imported ON imported."$seq" BETWEEN import.first AND import.last WHERE ${isOne}`
}

/** Returns a text as a literal; names of fields have no control characters and no backslashes. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/**
 * Whether the records that meet a condition can be counted by its cells alone. Those of a run are found by its lines of the log, also
 * the deleted ones.
 */
export function isCountedByCells(
  condition: Condition | null | undefined,
): condition is Exclude<CellCondition, RunCondition> {
  return COUNTED_BY_CELLS.has(condition?.kind)
}

const COUNTED_BY_CELLS: ReadonlySet<Condition['kind'] | undefined> = new Set([
  'state',
  'review',
  'writer',
  'failure',
] as const)

/** Returns a statement that counts the records that a SELECT of {@link CellConditionSql.records} returns. */
export function countRecords(select: string): string {
  return `SELECT count(DISTINCT record) AS count FROM (${select}) AS cells`
}
