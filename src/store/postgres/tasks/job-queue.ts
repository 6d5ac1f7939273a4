import type { Db, JobWithMetadata, PgBoss } from 'pg-boss'
import type { Connection } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { quoted } from '../database/schema.ts'

/** One fetch of a job. */
type JobAttempt = Pick<JobWithMetadata, 'id' | 'retryCount'>

/** The queue of tasks of all runs of a sheet. */
const QUEUE = 'tasks'

/** The queue never gives a task up: {@link TaskQueue} counts how often one was lost. */
const RETRIES = 1_000_000

const DAY_S = 86_400

/** A job to add, or one that was fetched. */
export interface Job {
  readonly id: string
  readonly data: object
}

/**
 * Distributes tasks with pg-boss, whose tables are in the sheet's schema, over the store's connections. It is set up when
 * it is first needed. With `db`, its changes are part of that transaction.
 */
export class JobQueue {
  readonly #database: Database
  #boss: Promise<PgBoss> | null = null

  constructor(database: Database) {
    this.#database = database
  }

  async add(jobs: readonly Job[], db: Connection): Promise<void> {
    const boss = await this.#started()
    await boss.insert(
      QUEUE,
      jobs.map(({ id, data }) => ({ id, data })),
      { db: through(db) },
    )
  }

  /** Fetches up to `limit` jobs, the oldest first. */
  async fetch(limit: number, db: Connection): Promise<readonly (Job & JobAttempt)[]> {
    const boss = await this.#started()
    return boss.fetch<object>(QUEUE, { batchSize: limit, db: through(db), includeMetadata: true })
  }

  /** Whether these attempts are all still held by their fetcher; they stay so until the transaction ends. */
  async hold(attempts: readonly JobAttempt[], db: Connection): Promise<boolean> {
    return affectedAll(
      await (await this.#started()).touch(QUEUE, [...attempts], { db: through(db) }),
      attempts,
    )
  }

  /** Completes an attempt; returns false when the job has been given to another. */
  async complete(attempt: JobAttempt, db: Connection): Promise<boolean> {
    const boss = await this.#started()
    return affectedAll(await boss.complete(QUEUE, [attempt], null, { db: through(db) }), [attempt])
  }

  /** Ends attempts, so that the jobs are fetched again. */
  async giveBack(attempts: readonly JobAttempt[], db: Connection): Promise<void> {
    if (attempts.length > 0)
      await (await this.#started()).fail(QUEUE, [...attempts], null, { db: through(db) })
  }

  async remove(ids: readonly string[], db: Connection): Promise<void> {
    if (ids.length > 0) await (await this.#started()).deleteJob(QUEUE, [...ids], { db: through(db) })
  }

  async close(): Promise<void> {
    const boss = await this.#boss?.catch(() => null)
    await boss?.stop({ graceful: false, close: false })
  }

  #started(): Promise<PgBoss> {
    this.#boss ??= this.#start().catch((error: unknown) => {
      this.#boss = null
      throw error
    })
    return this.#boss
  }

  async #start(): Promise<PgBoss> {
    // Loaded only now: most operations need no queue.
    const { PgBoss: Boss } = await import('pg-boss')
    const boss = new Boss({
      db: through(this.#database),
      schema: quoted(this.#database.location.schema),
      createSchema: false,
      schedule: false,
      monitorVacuum: false,
      reindex: false,
    })
    // Errors of its maintenance; errors of requests reject these.
    boss.on('error', () => undefined)
    await boss.start()
    await boss.createQueue(QUEUE, {
      retryLimit: RETRIES,
      retryDelay: 0,
      expireInSeconds: DAY_S - 1,
      retentionSeconds: 14 * DAY_S,
      deleteAfterSeconds: 60,
    })
    return boss
  }
}

function through(db: Connection): Db {
  return { executeSql: (text, values) => db.foreign(text, values) }
}

function affectedAll(result: object, attempts: readonly JobAttempt[]): boolean {
  return (result as { affected?: number }).affected === attempts.length
}
