import type { JsonValue } from '../../../contract/json/json.ts'
import { blockOf, type InputFacts } from '../../../errors/block.ts'
import {
  BLOCKED_COUNTERS,
  blockedSql,
  canBeBlocked,
  recountSql,
  type BlockedCounter,
} from '../../rows/blocked-sql.ts'
import type { TodoState } from '../../rows/stored-rows.ts'
import type { RecordKey } from '../../cell-work.ts'
import { needsOf, type StoredTarget, type StoredTargets } from '../../rows/stored-targets.ts'
import type { Connection } from '../database/connection.ts'

/** Receives the change of a counter of a target. */
export type CountBlocked = (target: StoredTarget, counter: BlockedCounter, by: 1 | -1) => void

/** Maintains the column `blocked` of `$todo` and the counters of blocked cells (D32) as values and states of cells change. */
export class BlockedCells {
  readonly #db: Connection
  readonly #targets: StoredTargets
  /** The statements that check one cell. */
  readonly #checks = new Map<StoredTarget, string>()

  constructor(db: Connection, targets: StoredTargets) {
    this.#db = db
    this.#targets = targets
  }

  /**
   * Checks whether the cell of a target is blocked, and if that has changed, counts that and checks the cells computed from it.
   */
  check(target: StoredTarget, record: RecordKey, count: CountBlocked): void {
    if (!target.active || !canBeBlocked(target, this.#targets)) return
    const found = this.#db.tuple(this.#checkSql(target), record)
    if (found === undefined || found[0] === found[1]) return
    const isBlocked = Number(found[1])
    const sql = 'UPDATE "$todo" SET blocked = ? WHERE target = ? AND record = ?'
    this.#db.run(sql, isBlocked, target.id, record)
    for (const counter of BLOCKED_COUNTERS[found[2] as TodoState])
      count(target, counter, isBlocked === 1 ? 1 : -1)
    for (const next of this.#targets.computedFrom(target.field)) this.check(next, record, count)
  }

  /**
   * Returns which of a new record's cells are blocked: all without a value are missing. Those of inactive targets are not.
   */
  ofNewRecord(value: (field: string) => JsonValue): (target: StoredTarget) => boolean {
    const known = new Map<StoredTarget, boolean>()
    const isBlocked = (target: StoredTarget): boolean => {
      let blocked = known.get(target)
      if (blocked === undefined) {
        blocked = target.active && blockOf(needsOf(target), facts) !== null
        known.set(target, blocked)
      }
      return blocked
    }
    const facts: InputFacts = {
      value,
      pending: (field) => {
        const source = this.#targets.target(field)
        if (source?.active !== true || value(field) !== null) return undefined
        return isBlocked(source) ? 'blocked' : 'missing'
      },
    }
    return isBlocked
  }

  /** Checks all cells of these derived fields, and of those computed from them, directly or not. */
  recountFrom(fields: readonly string[]): void {
    for (const target of this.#targets.downstream(fields)) {
      const counted = this.#db.get('SELECT blocked FROM "$target" WHERE id = ?', target.id)
      if (counted?.['blocked'] === 0 && !canBeBlocked(target, this.#targets)) continue
      this.#db.exec(recountSql(target, this.#targets))
    }
  }

  #checkSql(target: StoredTarget): string {
    let sql = this.#checks.get(target)
    if (sql === undefined) {
      const { blocked, joins } = blockedSql(target, this.#targets)
      sql = `SELECT todo.blocked, ${blocked}, todo.state FROM "$todo" AS todo JOIN "$data" AS data ON data."$seq" = todo.record ${joins}
        WHERE todo.target = ${target.id} AND todo.record = ?`
      this.#checks.set(target, sql)
    }
    return sql
  }
}
