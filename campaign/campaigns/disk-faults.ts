import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { ServiceError } from '../../src/errors/service-error.ts'
import { pushSheet } from '../../src/sheet/lifecycle/push-sheet.ts'
import type { Random } from '../../src/store/suite/support/random.ts'
import { startPostgresWith, type TestPostgres } from '../../test/support/postgres.ts'
import type { Campaign, Counts, Round, Setting } from '../campaign.ts'
import { checkSheet } from '../disk/check-image.ts'
import { ERRORS, Faults, type Fault } from '../disk/faults.ts'
import { watchedFiles } from '../disk/files-library.ts'
import { DURABLE } from '../disk/recorded-sheet.ts'
import { ACTOR, ServedSheet, type Answer, type End } from '../disk/served-sheet.ts'
import { IMPORTED, newPlace, newSheetFiles, startLabels, Workload } from '../disk/workload.ts'
import type { Stored } from '../disk/writer.ts'

/** Faults of a sheet while one server, or its successors, serve it. */
const FAULTS = 8

/** The most calls before a fault while clients write. */
const LIVE_CALLS = 150

/** Every call that changes files of the sheet fails once, or from one on until there is room again. */
export const diskFaults: Campaign = {
  name: 'disk-faults',
  attack:
    'A full disk, a reached quota, an I/O error, half a write: at a call while a sheet is imported, served, written to or closed',
  claim:
    'Each request is answered, or refused with an error that names the disk or the store; no acknowledged write is lost and none is there by half. When the fault has passed the same process takes writes; only after a failed sync of SQLite it says that it must be restarted, and the next process does. At the end the store is sound.',
  engines: ['sqlite', 'postgres'],
  goal: { faults: 1000 },
  start: async ({ engine, random, scope }: Setting): Promise<Round> => {
    const api = await startLabels(scope)
    return async (): Promise<Counts> => {
      const place = newPlace('colophon-faults-')
      const files = newSheetFiles(place, api.url)
      const faults = new Faults(join(place, 'faults'))
      const postgres = engine === 'postgres' ? await startDatabase(faults) : null
      const sheet = new FaultySheet({ files, faults, postgres, random })
      try {
        const counts = await sheet.attack()
        await checkSheet(sheet.place, { workload: sheet.workload, at: Infinity, kept: join(place, 'kept') })
        rmSync(place, { recursive: true })
        return counts
      } catch (error) {
        console.error(`The sheet is at ${place}, after ${sheet.story.join('; ')}\n${sheet.log}`)
        throw error
      } finally {
        faults.close()
        await postgres?.remove()
      }
    }
  },
}

function startDatabase(faults: Faults): Promise<TestPostgres> {
  return startPostgresWith(DURABLE, { env: (data) => watchedFiles(data, { faults: faults.file }) })
}

/** A sheet whose disk fails. */
class FaultySheet {
  readonly place: string
  readonly workload: Workload
  /** The faults and requests so far, for error messages. */
  readonly story: string[] = []
  readonly #files: string
  readonly #faults: Faults
  readonly #postgres: TestPostgres | null
  readonly #random: Random
  #server: ServedSheet | null = null
  #counts: Record<string, number> = { faults: 0, 'failed calls': 0, restarts: 0 }

  constructor({
    files,
    faults,
    postgres,
    random,
  }: {
    files: string
    faults: Faults
    postgres: TestPostgres | null
    random: Random
  }) {
    this.#files = files
    this.#faults = faults
    this.#postgres = postgres
    this.#random = random
    this.place = postgres?.url('sheet') ?? files
    this.workload = new Workload(random, () => 0)
  }

  /** The log of the last server. */
  get log(): string {
    return this.#server?.log ?? ''
  }

  /** Has the disk fail in all parts of the life of the sheet; returns what was done. */
  async attack(): Promise<Counts> {
    try {
      if (this.#postgres === null) await this.#importDirectory()
      else await this.#push()
      for (let count = 0; count < FAULTS; count += 1) {
        if (this.#random.chance(0.2)) await this.#close()
        else await this.#write()
      }
      await this.#restart()
      await this.#works()
      return this.#counts
    } finally {
      this.#faults.end()
      await this.#server?.stop('SIGTERM')
    }
  }

  /** Starts a server on a new directory, whose import has some 300 calls, with a fault. */
  async #importDirectory(): Promise<void> {
    this.#begin('import', this.#random.below(this.#random.pick([30, 350])))
    const started = await this.#serve()
    if (started instanceof ServedSheet) {
      this.#server = started
      isClear(await started.request('GET', '/api/records?limit=1'))
    } else {
      isClearEnd(started)
    }
    this.#end()
    if (this.#server === null) await this.#restart()
    await this.#works()
  }

  /** Pushes the sheet to a new schema with a fault. */
  async #push(): Promise<void> {
    const push = (): Promise<unknown> =>
      pushSheet(this.#files, this.place, { actor: ACTOR, note: null, dryRun: false, lockTimeoutMs: 30_000 })
    this.#begin('push', this.#random.below(400))
    try {
      await push()
      this.#end()
    } catch (error) {
      assert.ok(error instanceof ServiceError, String(error))
      isClearMessage(error.message)
      this.#end()
      await this.#databaseStarted()
      await push()
    }
    await this.#databaseStarted()
    await this.#restart()
    await this.#works()
  }

  /** Clients write until a fault has stopped all of them, or has passed. */
  async #write(): Promise<void> {
    const server = this.#running()
    this.#begin('write', this.#random.below(this.#random.pick([10, LIVE_CALLS])))
    const answers = await this.workload.runUntilRefused(server, {
      clients: 1 + this.#random.below(3),
      requests: 6,
    })
    this.#end()
    for (const answer of answers) isClear(answer)
    await this.#databaseStarted()
    // A fault can also stop what the server does between requests.
    const later = await this.workload.runUntilRefused(server, { clients: 1, requests: 1 })
    const mustRestart =
      server.hasEnded || later.some((answer) => /and restart/.test(JSON.stringify(answer?.body ?? '')))
    if (mustRestart) {
      assert.ok(this.#faults.syncFailed, `a restart after ${this.story.at(-1)}: ${JSON.stringify(later)}`)
      await this.#restart()
    } else {
      assert.deepEqual(later, [], `after ${this.story.at(-1)}`)
    }
    await this.#works()
  }

  /** Stops the server with a fault, and starts another. */
  async #close(): Promise<void> {
    const server = this.#running()
    await this.workload.run(server, { clients: 1, requests: 2 })
    this.#begin('close', this.#random.below(12))
    const { code, signal, stderr } = await server.stop('SIGTERM')
    this.#end()
    assert.deepEqual([code, signal], [0, null], stderr)
    isClearLog(stderr)
    this.#server = null
    await this.#databaseStarted()
    await this.#restart()
    await this.#works()
  }

  /** Without a fault, everything that was acknowledged is there, and the sheet takes all kinds of writes. */
  async #works(): Promise<void> {
    const server = this.#running()
    const records = await this.#records(server)
    assert.equal(records.filter(({ batch }) => batch === 'imported').length, IMPORTED)
    this.workload.settle(records)
    await this.workload.run(server, { clients: 1, requests: 4 })
    this.workload.settle(await this.#records(server))
  }

  async #records(server: ServedSheet): Promise<readonly Stored[]> {
    const answer = await server.request('GET', '/api/records?limit=10000')
    assert.equal(answer?.status, 200, `reading after ${this.story.at(-1)}: ${JSON.stringify(answer?.body)}`)
    return (answer.body as { records: readonly Stored[] }).records
  }

  async #restart(): Promise<void> {
    await this.#server?.stop('SIGTERM')
    this.#counts['restarts'] = (this.#counts['restarts'] ?? 0) + 1
    const started = await this.#serve()
    assert.ok(
      started instanceof ServedSheet,
      `it did not start after ${this.story.at(-1)}: ${JSON.stringify(started)}`,
    )
    this.#server = started
  }

  #serve(): Promise<ServedSheet | End> {
    const env = this.#postgres === null ? watchedFiles(this.#files, { faults: this.#faults.file }) : {}
    return ServedSheet.start(this.place, env)
  }

  #running(): ServedSheet {
    assert.ok(this.#server)
    return this.#server
  }

  /**
   * Waits for the database, which recovers after some errors. One that fails while it recovers has ended, or is there and takes no
   * connections any more: its operator restarts it.
   */
  async #databaseStarted(): Promise<void> {
    const postgres = this.#postgres
    if (postgres === null) return
    await postgres.ensureStarted()
    for (let tries = 1; !(await isReady(postgres)); tries += 1) {
      assert.ok(tries < 200, `the database is not there again after ${this.story.at(-1)}`)
      await delay(50)
      if (tries % 40 === 0) await postgres.stop('crash')
      await postgres.ensureStarted()
    }
  }

  #begin(when: string, after: number): void {
    const random = this.#random
    const fault: Fault = {
      error: random.pick(ERRORS),
      after,
      once: random.chance(0.5),
      half: random.chance(0.25),
    }
    this.story.push(
      `${when}: ${fault.error} ${fault.once ? 'at' : 'from'} call ${this.#faults.calls + 1 + after}${fault.half ? ' and half a write' : ''}`,
    )
    if (process.env['TELL']) console.error(new Date().toISOString(), this.story.at(-1))
    this.#failedBefore = this.#faults.failed
    this.#faults.begin(fault)
  }

  #failedBefore = 0

  #end(): void {
    this.#faults.end()
    const failed = this.#faults.failed - this.#failedBefore
    this.#counts['failed calls'] = (this.#counts['failed calls'] ?? 0) + failed
    if (failed > 0) this.#counts['faults'] = (this.#counts['faults'] ?? 0) + 1
  }
}

async function isReady(postgres: TestPostgres): Promise<boolean> {
  const client = new Client({ connectionString: postgres.url('a').replace('&schema=a', '') })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Words by which a person knows that the disk or the store is at fault. */
const DISK =
  /disk|room|quota|sheet\.db|provenance\.jsonl|checkpoints\.txt|contract\.yaml|transport\.yaml|derivations|the store|file of the sheet|connection/

/** Texts that no message may have: paths of the machine, and internals. */
const INTERNAL =
  /^internal error|an internal error in|\/dev\/shm|\/tmp\/|node:|\bat \w+ \(|undefined|\[object/

function isClear(answer: Answer | null): void {
  // The process ended over it: its end is checked.
  if (answer === null || answer.status === 200) return
  const { error } = answer.body as { error?: { type?: string; message?: string } }
  assert.match(
    error?.type ?? '',
    /^(RecordsError|OperationError|ContractError|SheetError|LockTimeoutError)$/,
    JSON.stringify(answer.body),
  )
  isClearMessage(error?.message ?? '')
}

function isClearMessage(message: string): void {
  assert.match(message, DISK)
  assert.doesNotMatch(message, INTERNAL)
}

/** Whether the log of a server has no error that nobody expected. */
function isClearLog(stderr: string): void {
  for (const line of stderr.split('\n').filter((text) => text !== '')) {
    const { err, type } = JSON.parse(line) as { err?: object; type?: string }
    assert.ok(err === undefined && type !== undefined, line)
  }
}

function isClearEnd({ code, signal, stderr }: End): void {
  assert.deepEqual([code, signal], [1, null], stderr)
  assert.match(stderr, /^colophon: [^\n]*\n$/)
  assert.match(stderr, DISK)
}
