import type { JsonValue } from '../../../contract/json/json.ts'
import { HASH_PREFIX, hashText, runNumber, type StoredRequest } from '../../rows/stored-rows.ts'
import type { SettledCall } from '../../cell-work.ts'
import type { CallClaim, TakenTask } from '../../run-tasks.ts'
import type { Connection } from '../database/connection.ts'

/** Returns the condition that a worker holds a task: not one that was lost, if it runs on. */
function isHeld(job: string, attempt: string): string {
  return `EXISTS (SELECT FROM "$task" AS task WHERE task.job = ${job} AND task.attempt = ${attempt}
    AND task.worker IS NOT NULL AND NOT task.settled)`
}

/** Claims calls for a task, as far as they are neither made nor claimed, and returns the state of each. */
export async function claimCalls(
  db: Connection,
  task: TakenTask,
  hashes: readonly string[],
): Promise<Map<string, CallClaim>> {
  const wanted = hashes.map(hexOf)
  const made = await db.all(
    `INSERT INTO "$call" (run, hash, job, attempt)
     SELECT $1, decode(wanted, 'hex'), $3, $4 FROM unnest($2::text[]) AS wanted
     WHERE ${isHeld('$3', '$4')}
     ON CONFLICT (run, hash) DO NOTHING RETURNING hash`,
    runNumber(task.run),
    wanted,
    task.job,
    task.attempt,
  )
  const claims = new Map<string, CallClaim>(made.map(({ hash }) => [hashText(hash as Buffer), 'mine']))
  const others = hashes.filter((hash) => !claims.has(hash))
  for (const [hash, claim] of await readCalls(db, task, others)) claims.set(hash, claim)
  return claims
}

/** Returns the state of claimed calls, and takes over those whose task is lost. */
async function readCalls(
  db: Connection,
  task: TakenTask,
  hashes: readonly string[],
): Promise<Map<string, CallClaim>> {
  if (hashes.length === 0) return new Map()
  const taken = await db.all(
    `UPDATE "$call" AS call SET job = $3, attempt = $4
     WHERE call.run = $1 AND call.hash IN (SELECT decode(wanted, 'hex') FROM unnest($2::text[]) AS wanted) AND NOT call.settled
       AND ${isHeld('$3', '$4')} AND (call.job = $3 OR NOT ${isHeld('call.job', 'call.attempt')})
     RETURNING hash`,
    runNumber(task.run),
    hashes.map(hexOf),
    task.job,
    task.attempt,
  )
  const claims = new Map<string, CallClaim>(taken.map(({ hash }) => [hashText(hash as Buffer), 'mine']))
  const rows = await db.all(
    `SELECT hash, settled, failed FROM "$call"
     WHERE run = $1 AND hash IN (SELECT decode(wanted, 'hex') FROM unnest($2::text[]) AS wanted)`,
    runNumber(task.run),
    hashes.filter((hash) => !claims.has(hash)).map(hexOf),
  )
  for (const { hash: bytes, settled, failed } of rows) {
    const hash = hashText(bytes as Buffer)
    const known = failed === null ? null : (JSON.parse(String(failed)) as JsonValue)
    claims.set(hash, settled === true ? { hash, failed: known } : 'other')
  }
  return claims
}

/** Stores the results of calls. */
export async function settleCalls(
  db: Connection,
  task: TakenTask,
  made: readonly SettledCall[],
): Promise<void> {
  if (made.length === 0) return
  await db.run(
    `UPDATE "$call" AS call SET settled = true, failed = made.failed
     FROM unnest($2::text[], $3::text[]) AS made(hash, failed)
     WHERE call.run = $1 AND call.hash = decode(made.hash, 'hex')`,
    runNumber(task.run),
    made.map(({ hash }) => hexOf(hash)),
    made.map(({ failed }) => (failed === null ? null : JSON.stringify(failed))),
  )
}

/**
 * Releases claimed calls that were not made, for other tasks to make. Returns the hashes of those that the task had
 * claimed.
 */
export async function releaseCalls(
  db: Connection,
  task: TakenTask,
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set()
  const released = await db.all(
    `DELETE FROM "$call" WHERE run = $1 AND hash IN (SELECT decode(wanted, 'hex') FROM unnest($2::text[]) AS wanted)
       AND job = $3 AND attempt = $4 AND NOT settled RETURNING hash`,
    runNumber(task.run),
    hashes.map(hexOf),
    task.job,
    task.attempt,
  )
  return new Set(released.map(({ hash }) => hashText(hash as Buffer)))
}

/** Whether a call without a stored result is still the task's. */
export async function isClaimedBy(db: Connection, task: TakenTask, hash: string): Promise<boolean> {
  const claimed = await db.get(
    `SELECT FROM "$call" WHERE run = $1 AND hash = decode($2, 'hex') AND job = $3 AND attempt = $4 AND NOT settled`,
    runNumber(task.run),
    hexOf(hash),
    task.job,
    task.attempt,
  )
  return claimed !== undefined
}

/** The attempt of calls whose worker was lost; tasks have none below zero. */
const LOST_ATTEMPT = -1

/**
 * Counts the calls that lost workers claimed at their price, since they may have made any of them. They are no longer the workers', which
 * may still run, and must not lower what was counted.
 */
export async function countLostCalls(
  db: Connection,
  tasks: readonly { readonly run?: unknown; readonly job?: unknown }[],
): Promise<void> {
  const runs = tasks.map(({ run }) => Number(run))
  // Without bounds, no calls are counted as begun.
  await db.run(
    `UPDATE "$run" SET calls = greatest(calls, begun_calls), total_cost = greatest(total_cost, begun_cost)
     WHERE id = ANY($1::bigint[])`,
    runs,
  )
  await db.run(
    `UPDATE "$call" SET attempt = ${LOST_ATTEMPT} WHERE run = ANY($1::bigint[]) AND job = ANY($2::uuid[]) AND NOT settled`,
    runs,
    tasks.map(({ job }) => String(job)),
  )
}

/** Whether some process makes a call of the run at the moment. */
export async function hasOpenCalls(db: Connection, { run }: TakenTask): Promise<boolean> {
  const open = await db.get(
    `SELECT FROM "$call" AS call WHERE call.run = $1 AND NOT call.settled AND ${isHeld('call.job', 'call.attempt')} LIMIT 1`,
    runNumber(run),
  )
  return open !== undefined
}

/** The bounds of a run; null for none. */
type Bounds = Pick<StoredRequest, 'maxCalls' | 'maxCost'>

/** The calls and costs of a run within its bounds, locked until the end of the transaction. */
export class RunBounds {
  readonly #db: Connection
  readonly #run: number | null
  #calls = 0
  #cost = 0
  #most: Bounds = { maxCalls: null, maxCost: null }

  private constructor(db: Connection, run: number | null) {
    this.#db = db
    this.#run = run
  }

  /** Keeps other processes from beginning calls of the run until the transaction ends. */
  static async lock(db: Connection, { run }: TakenTask): Promise<RunBounds> {
    const bounds = new RunBounds(db, runNumber(run))
    const sql = 'SELECT request, begun_calls, begun_cost FROM "$run" WHERE id = $1 FOR UPDATE'
    const row = await db.get(sql, bounds.#run)
    bounds.#most = JSON.parse(String(row?.['request'])) as Bounds
    bounds.#calls = Number(row?.['begun_calls'])
    bounds.#cost = Number(row?.['begun_cost'])
    return bounds
  }

  /** Reserves a call, whether or not it is made in the end; returns false when the bounds are reached. */
  begin(price: number): boolean {
    const { maxCalls, maxCost } = this.#most
    const cost = inDollars(this.#cost + price)
    if ((maxCalls !== null && this.#calls >= maxCalls) || (maxCost !== null && cost > inDollars(maxCost)))
      return false
    this.#calls += 1
    this.#cost = cost
    return true
  }

  /** Whether a call of this price could begin if nothing else had been paid for. */
  isPossible(price: number): boolean {
    const { maxCalls, maxCost } = this.#most
    return (maxCalls === null || this.#calls < maxCalls) && (maxCost === null || price <= maxCost)
  }

  /** Cancels the reservation of a call that was not made. */
  giveBack(price: number): void {
    this.#calls -= 1
    this.#cost = inDollars(this.#cost - price)
  }

  /** Replaces the price of a call by its actual cost. */
  settle(price: number, cost: number): void {
    this.#cost = inDollars(this.#cost - price + cost)
  }

  async save(): Promise<void> {
    const sql = 'UPDATE "$run" SET begun_calls = $2, begun_cost = $3 WHERE id = $1'
    await this.#db.run(sql, this.#run, this.#calls, this.#cost)
  }
}

/** Rounds to a billionth of a dollar. */
function inDollars(sum: number): number {
  return Math.round(sum * 1e9) / 1e9
}

function hexOf(hash: string): string {
  return hash.slice(HASH_PREFIX.length)
}
