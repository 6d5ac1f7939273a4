import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { request } from 'undici'
import type { BenchCase, BenchRow, BenchSettings } from '../support/case.ts'
import { benchRecord, DERIVED, makeBenchSheet } from '../support/bench-sheet.ts'
import { compare, requestsPerSecond } from '../support/load.ts'
import { serveSheet, startServer } from '../support/processes.ts'

const BATCH = 10_000
const TOKEN = 'b'.repeat(43)
const HEADERS = { 'content-type': 'application/json', 'x-csrf-token': TOKEN, cookie: `svc_csrf=${TOKEN}` }

/** Writing over HTTP: one record a request, and 10,000. Every record is new, and durable before it is answered. */
export const writes: BenchCase = {
  name: 'writes',
  async run(settings) {
    return [await single(settings), await bulk(settings)]
  },
}

async function single({ seconds, rounds }: BenchSettings): Promise<BenchRow> {
  const directory = await makeBenchSheet('writes-single', { records: 0 })
  const sheet = await serveSheet(directory)
  const bare = await startServer('bench/servers/bare.ts')
  let number = 0
  const body = (): string => JSON.stringify({ records: [benchRecord((number += 1))] })
  try {
    const comparison = await compare(
      rounds,
      () =>
        requestsPerSecond({
          url: sheet.url,
          seconds,
          method: 'POST',
          headers: HEADERS,
          next: () => ({ path: '/api/records', body: body() }),
        }),
      () =>
        requestsPerSecond({
          url: bare.url,
          seconds,
          method: 'POST',
          headers: HEADERS,
          next: () => ({ path: '/records', body: body() }),
        }),
    )
    return {
      what: 'POST /api/records, one record, durable',
      unit: 'requests/s',
      reference: 'bare Fastify that parses the same body',
      oursPerSecond: comparison.ours,
      referencePerSecond: comparison.reference,
      ratio: comparison.ratio,
      reach: 0.3,
    }
  } finally {
    await sheet.stop()
    await bare.stop()
  }
}

async function bulk({ rounds }: BenchSettings): Promise<BenchRow> {
  const directory = await makeBenchSheet('writes-bulk', { records: 0 })
  const sheet = await serveSheet(directory)
  let first = 1
  const nextBatch = (): Record<string, unknown>[] => {
    const batch = Array.from({ length: BATCH }, (_, index) => benchRecord(first + index))
    first += BATCH
    return batch
  }
  const reference = join(directory, 'reference.db')
  const db = referenceTable(reference)
  try {
    const comparison = await compare(
      rounds * 2,
      () => postBatches(sheet.url, [nextBatch(), nextBatch()]),
      async () => insertBatches(db, [nextBatch(), nextBatch()]),
    )
    return {
      what: `POST /api/records, ${BATCH.toLocaleString('en')} records a request`,
      unit: 'records/s',
      reference: 'node:sqlite, the same rows in one transaction',
      oursPerSecond: comparison.ours,
      referencePerSecond: comparison.reference,
      ratio: comparison.ratio,
      reach: 0.25,
    }
  } finally {
    db.close()
    rmSync(reference, { force: true })
    await sheet.stop()
  }
}

async function postBatches(url: string, batches: readonly Record<string, unknown>[][]): Promise<number> {
  const bodies = batches.map((records) => Buffer.from(JSON.stringify({ records })))
  const start = performance.now()
  for (const body of bodies) {
    const answer = await request(`${url}/api/records`, { method: 'POST', headers: HEADERS, body })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(text)
  }
  return (batches.length * BATCH * 1000) / (performance.now() - start)
}

function referenceTable(path: string): DatabaseSync {
  const db = new DatabaseSync(path)
  const columns = Object.entries(benchRow(1)).map(
    ([name, value]) => `${name} ${typeof value === 'number' ? 'REAL' : 'TEXT'}`,
  )
  db.exec(
    `PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE bench (${columns.join(', ')}, UNIQUE (id))`,
  )
  return db
}

/** A record as a row of the reference: all 20 fields, the derived ones null. */
function benchRow(number: number): Record<string, unknown> {
  return { ...benchRecord(number), ...Object.fromEntries(DERIVED.map((name) => [name, null])) }
}

function insertBatches(db: DatabaseSync, batches: readonly Record<string, unknown>[][]): number {
  const insert = db.prepare(
    `INSERT INTO bench VALUES (${Object.keys(benchRow(1))
      .map(() => '?')
      .join(', ')})`,
  )
  const rows = batches.map((batch) =>
    batch.map((record) =>
      Object.values({ ...benchRow(1), ...record }).map((value) =>
        typeof value === 'boolean'
          ? Number(value)
          : Array.isArray(value)
            ? JSON.stringify(value)
            : (value as string | number | null),
      ),
    ),
  )
  const start = performance.now()
  for (const batch of rows) {
    db.exec('BEGIN')
    for (const row of batch) insert.run(...row)
    db.exec('COMMIT')
  }
  return (batches.length * BATCH * 1000) / (performance.now() - start)
}
