import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { contractText } from '../support/contract-with.ts'
import { openOnEngine } from '../support/engine.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { byText, checkedLog, KILLS, seededRandom, Victim, type LogEntry } from './kill-harness.ts'

const WRITERS = 8

interface Stored {
  readonly id: string
  readonly batch: string | null
  readonly size: number | null
  readonly counter: number | null
}

/** The writes that one writer has sent, and those that were acknowledged. */
class Writer {
  readonly name: string
  readonly #random: () => number
  readonly issued = new Set<string>()
  readonly acknowledged = new Set<string>()
  counterIssued = 0
  counterAcknowledged = 0

  constructor(name: string, random: () => number) {
    this.name = name
    this.#random = random
  }

  /** Writes batches of new records, each with the next value of the writer's counter, until the server is gone. */
  async write(victim: Victim, onAcknowledged: () => void): Promise<void> {
    for (;;) {
      const batch = `${this.name}.${this.counterIssued + 1}`
      const size = 1 + Math.floor(this.#random() * 5)
      const records = Array.from({ length: size }, (_, index) => ({ id: `${batch}.${index}`, batch, size }))
      this.issued.add(batch)
      this.counterIssued += 1
      const counter = { id: this.name, counter: this.counterIssued }
      if ((await victim.post('/api/records', { records: [...records, counter] })) === null) return
      this.acknowledged.add(batch)
      this.counterAcknowledged = this.counterIssued
      onAcknowledged()
    }
  }
}

test(`D17, D34: ${KILLS} kills while ${WRITERS} writers upsert lose no acknowledged write`, async (t) => {
  const directory = await writeSheet(t, {
    contract: contractText([
      '{name: batch, logicalType: string}',
      '{name: size, logicalType: integer}',
      '{name: counter, logicalType: integer}',
    ]),
    records: [],
    derivations: {},
  })
  const random = seededRandom(1)
  const writers = Array.from({ length: WRITERS }, (_, index) => new Writer(`w${index}`, random))
  for (let round = 0; round < KILLS; round += 1) {
    await killWhileWriting(await Victim.start(t, directory), writers, random)
    const records = await readAll(directory)
    const entries = await checkedLog(directory)
    for (const writer of writers) checkWriter(writer, records, entries)
  }
})

async function killWhileWriting(
  victim: Victim,
  writers: readonly Writer[],
  random: () => number,
): Promise<void> {
  let left = Math.floor(random() * 60)
  const { promise: enough, resolve } = Promise.withResolvers<void>()
  const writing = writers.map((writer) =>
    writer.write(victim, () => {
      left -= 1
      if (left <= 0) resolve()
    }),
  )
  await enough
  // The moment of the kill is what is tried here: anywhere within the next commits.
  await delay(random() * 4)
  await victim.kill()
  await Promise.all(writing)
}

async function readAll(directory: string): Promise<Map<string, Stored>> {
  const sheet = await openOnEngine(directory)
  try {
    const records = new Map<string, Stored>()
    for (let cursor: string | null = null; ;) {
      const page = await listRecords(sheet, { limit: 10_000, cursor })
      for (const record of JSON.parse(String(page.records)) as Stored[]) records.set(record.id, record)
      cursor = page.nextCursor
      if (cursor === null) return records
    }
  } finally {
    await sheet.close()
  }
}

function checkWriter(
  writer: Writer,
  records: ReadonlyMap<string, Stored>,
  entries: readonly LogEntry[],
): void {
  const counter = records.get(writer.name)?.counter ?? 0
  assert.ok(counter >= writer.counterAcknowledged, `${writer.name}: an acknowledged value is lost`)
  assert.ok(counter <= writer.counterIssued, `${writer.name}: a value that was never sent`)
  const own = [...records.values()].filter(({ batch }) => batch?.startsWith(`${writer.name}.`) === true)
  const batches = Map.groupBy(own, ({ batch }) => batch ?? '')
  for (const batch of writer.acknowledged)
    assert.ok(batches.has(batch), `${batch} was acknowledged and is lost`)
  for (const [batch, stored] of batches) {
    assert.ok(writer.issued.has(batch), `${batch} was never sent`)
    assert.equal(stored.length, stored[0]?.size, `${batch} is half done`)
  }
  const created = entries.filter(({ values }) =>
    String(values?.['batch'] ?? '').startsWith(`${writer.name}.`),
  )
  assert.deepEqual(
    created.map(({ record_id }) => String(record_id)).toSorted(byText),
    own.map(({ id }) => id).toSorted(byText),
    'each record has its one line',
  )
}
