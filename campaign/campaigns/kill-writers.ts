import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../src/store/suite/support/random.ts'
import { Victim, type LogEntry } from '../../test/kill/kill-harness.ts'
import { contractText } from '../../test/support/contract-with.ts'
import { perEngine } from '../../test/support/engine.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { writeSheet } from '../../test/support/sheet-fixture.ts'
import type { Campaign, Counts, Round, Setting } from '../campaign.ts'
import { NewLines } from '../support/new-lines.ts'
import { verifyPlace } from '../support/verify-place.ts'

const WRITERS = 8

/** The records of a writer; few, so that each is written again and again. */
const RECORDS = 12

/** The most records of one write. */
const MOST_RECORDS = 5

/** The share of writes that delete. */
const DELETIONS = 0.1

/** A kill comes after at most so many acknowledged writes of all writers, and within so many milliseconds after that. */
const MOST_WRITES = 220
const WITHIN_MS = 5

/** The database is killed too in one of so many rounds, where it is a process of its own. */
const DATABASE_EVERY = 20

/** The kills after which a sheet is verified as a whole, and another one begins. */
const KILLS = 250

const SHEET = {
  contract: contractText([
    '{name: number, logicalType: integer}',
    '{name: twice, logicalType: integer}',
    '{name: text, logicalType: string}',
  ]),
  records: [],
  derivations: {},
}

/** A record as it is stored: each write sets all three fields to its own number. */
interface Stored {
  readonly id: string
  readonly number: number
  readonly twice: number
  readonly text: string
}

/** One request: the number of the write, by the records that it sets; null deletes them. */
interface Write {
  readonly number: number
  readonly ids: readonly string[]
  readonly deletes: boolean
}

/** Writes its own records, so that it knows what each must have. */
class Writer {
  readonly #name: string
  readonly #random: Random
  readonly #expected = new Map<string, number | null>()
  /** Acknowledged since the last check. */
  #acknowledged: Write[] = []
  /** Sent and not answered. */
  #open: Write | null = null
  #count = 0

  constructor(name: string, random: Random) {
    this.#name = name
    this.#random = random
  }

  /** Writes until the server is gone. */
  async write(victim: Victim, onAcknowledged: () => void): Promise<void> {
    for (;;) {
      const write = this.#next()
      this.#open = write
      const isDone = (await this.#send(victim, write)) !== null
      if (!isDone) return
      this.#open = null
      this.#acknowledged.push(write)
      for (const id of write.ids) this.#expected.set(id, write.deletes ? null : write.number)
      onAcknowledged()
    }
  }

  /** Holds the stored records and the new lines of the log to what was acknowledged; returns the number of these writes. */
  check(stored: ReadonlyMap<string, Stored>, entries: ReadonlyMap<string, readonly LogEntry[]>): number {
    const open = this.#open
    this.#open = null
    const found = open === null ? false : this.#isDone(open, stored)
    const done = open !== null && found ? [...this.#acknowledged, open] : this.#acknowledged
    if (open !== null && found)
      for (const id of open.ids) this.#expected.set(id, open.deletes ? null : open.number)
    for (const [id, number] of this.#expected) {
      const record = stored.get(id)
      const shown = `${id} must have ${String(number)}, and has ${JSON.stringify(record)}`
      assert.equal(record?.number ?? null, number, shown)
      if (record === undefined) continue
      assert.deepEqual([record.twice, record.text], [2 * record.number, `text ${record.number}`], shown)
    }
    for (const write of done) {
      if (write.deletes) continue
      for (const id of write.ids) {
        const lines = (entries.get(id) ?? []).filter(({ values }) => values?.['number'] === write.number)
        assert.equal(lines.length, 1, `the log has ${lines.length} lines of write ${write.number} of ${id}`)
      }
    }
    const count = this.#acknowledged.length
    this.#acknowledged = []
    return count
  }

  /** Whether an unanswered write was done; it is done whole or not at all. */
  #isDone({ ids, number, deletes }: Write, stored: ReadonlyMap<string, Stored>): boolean {
    // A record that did not exist before does not show whether it was deleted.
    const told = deletes ? ids.filter((id) => (this.#expected.get(id) ?? null) !== null) : ids
    const states = told.map((id) => (deletes ? !stored.has(id) : stored.get(id)?.number === number))
    assert.ok(new Set(states).size <= 1, `write ${number} of ${this.#name} is half done: ${told.join()}`)
    return states[0] ?? false
  }

  #next(): Write {
    const { below, chance } = this.#random
    this.#count += 1
    const first = below(RECORDS)
    const ids = Array.from(
      { length: 1 + below(MOST_RECORDS) },
      (_, index) => `${this.#name}.${(first + index) % RECORDS}`,
    )
    return { number: this.#count, ids, deletes: chance(DELETIONS) }
  }

  #send(victim: Victim, { number, ids, deletes }: Write): Promise<unknown> {
    if (deletes) return victim.delete(`/api/records?ids=${ids.join()}`)
    const records = ids.map((id) => ({ id, number, twice: 2 * number, text: `text ${number}` }))
    return victim.post('/api/records', { records })
  }
}

/** Servers that are killed while clients write. */
export const killWriters: Campaign = {
  name: 'kill-writers',
  attack: `\`kill -9\` at a random moment while ${WRITERS} clients write and delete`,
  claim: `After the next start each acknowledged write is there, none is half done, and each has its one line in the log, whose file and table agree; every ${KILLS} kills \`colophon verify\` finds no difference. On PostgreSQL the database is killed too in one of ${DATABASE_EVERY} rounds.`,
  engines: ['sqlite', 'postgres'],
  goal: { kills: 10_000, 'acknowledged writes': 1_000_000 },
  start,
}

async function start({ random, scope }: Setting): Promise<Round> {
  let life = await Life.begin(scope, random)
  return async () => {
    const counts = await life.round()
    if (life.kills === KILLS) {
      await life.end()
      life = await Life.begin(scope, random)
    }
    return counts
  }
}

/** A sheet with its writers, from its creation to its verification. */
class Life {
  kills = 0
  readonly #setting: Pick<Setting, 'random' | 'scope'>
  readonly #directory: string
  readonly #writers: readonly Writer[]
  readonly #log: NewLines
  #victim: Victim

  private constructor(setting: Pick<Setting, 'random' | 'scope'>, directory: string, victim: Victim) {
    this.#setting = setting
    this.#directory = directory
    this.#log = new NewLines(directory)
    this.#victim = victim
    this.#writers = Array.from({ length: WRITERS }, (_, index) => new Writer(`w${index}`, setting.random))
  }

  static async begin(scope: Setting['scope'], random: Random): Promise<Life> {
    const directory = await writeSheet(scope, SHEET)
    return new Life({ random, scope }, directory, await Victim.start(scope, directory))
  }

  /** Kills the server over its writes, starts it again, and compares. */
  async round(): Promise<Counts> {
    const { random, scope } = this.#setting
    await killWhileWriting(this.#victim, this.#writers, random)
    this.kills += 1
    if (perEngine({ sqlite: false, postgres: true }) && random.below(DATABASE_EVERY) === 0) {
      const postgres = await startPostgres()
      await postgres.stop('crash')
      await postgres.start()
    }
    this.#victim = await Victim.start(scope, this.#directory)
    const { records } = await this.#victim.get<{ records: Stored[] }>('/api/records?limit=1000')
    const stored = new Map(records.map((record) => [record.id, record]))
    const entries = Map.groupBy(await this.#log.read(), ({ record_id: id }) => id ?? '')
    const acknowledged = this.#writers.reduce((sum, writer) => sum + writer.check(stored, entries), 0)
    return { kills: 1, 'acknowledged writes': acknowledged }
  }

  /** Verifies the whole log. */
  async end(): Promise<void> {
    await this.#victim.kill()
    await verifyPlace(this.#directory)
    await rm(this.#directory, { recursive: true })
  }
}

async function killWhileWriting(victim: Victim, writers: readonly Writer[], random: Random): Promise<void> {
  let left = random.below(MOST_WRITES)
  const { promise: enough, resolve } = Promise.withResolvers<void>()
  const writing = writers.map((writer) =>
    writer.write(victim, () => {
      left -= 1
      if (left <= 0) resolve()
    }),
  )
  await Promise.race([enough, Promise.all(writing)])
  await delay(random.below(WITHIN_MS * 1000) / 1000)
  await victim.kill()
  await Promise.all(writing)
}
