import type { Db, JobWithMetadata, PgBoss } from 'pg-boss'
import type { Connection } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { quoted } from '../database/schema.ts'

/** One of the times that a job was fetched. */
type JobAttempt = Pick<JobWithMetadata, 'id' | 'retryCount'>

/** The queue of tasks; all of a sheet's runs share it. */
const QUEUE = 'tasks'

/** A task is never given up by the queue: who counts how often one was lost is {@link TaskQueue}. */
const RETRIES = 1_000_000

const DAY_S = 86_400

/** A job to be added, or as it was fetched. */
export interface Job {
  readonly id: string
  readonly data: object
}

/**
 * The queue that hands out tasks: pg-boss, with its tables in the sheet's schema, by the store's connections. It is set up
 * when it is first needed. Within a transaction (`db`) what it does is part of that.
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

  /** Takes up to so many jobs, the oldest first. */
  async fetch(limit: number, db: Connection): Promise<readonly (Job & JobAttempt)[]> {
    const boss = await this.#started()
    return boss.fetch<object>(QUEUE, { batchSize: limit, db: through(db), includeMetadata: true })
  }

  /** Which of these attempts are still those of whoever fetched them; they stay so until the transaction ends. */
  async hold(attempts: readonly JobAttempt[], db: Connection): Promise<boolean> {
    return affectedAll(
      await (await this.#started()).touch(QUEUE, [...attempts], { db: through(db) }),
      attempts,
    )
  }

  /** Ends an attempt with success; false when it was another's by now. */
  async complete(attempt: JobAttempt, db: Connection): Promise<boolean> {
    const boss = await this.#started()
    return affectedAll(await boss.complete(QUEUE, [attempt], null, { db: through(db) }), [attempt])
  }

  /** Ends attempts, and has the jobs fetched again. */
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
    // Loaded only now: most of what is done with a sheet needs no queue.
    const { PgBoss: Boss } = await import('pg-boss')
    const boss = new Boss({
      db: through(this.#database),
      schema: quoted(this.#database.location.schema),
      createSchema: false,
      schedule: false,
      monitorVacuum: false,
      reindex: false,
    })
    // What it has to say of its upkeep; what is asked of it is told to whoever asks.
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

function affectedAll(answer: object, attempts: readonly JobAttempt[]): boolean {
  return (answer as { affected?: number }).affected === attempts.length
}
