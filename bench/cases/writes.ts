import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { colophon } from '../programs/colophon.ts'
import type { BenchRow, BenchSettings, DirectoryBench, DirectoryCase } from '../support/case.ts'
import { benchRecord } from '../support/bench-sheet.ts'
import { measureAlone } from '../support/compare-programs.ts'
import { bulkUpsert } from '../support/measures.ts'
import { insertRows, openReference, sqlRow } from '../support/sqlite-reference.ts'
import { compare, requestsPerSecond, type Comparison } from '../support/load.ts'
import { serveSheet, startServer, type ServerProcess, type SheetPlace } from '../support/processes.ts'
import { postRecords, upsertBody, WRITE_HEADERS } from '../support/writes.ts'

/** The row of one record for each request. */
export const SINGLE_WRITES = 'POST /api/records, one record, durable'

/** Records of a large request. */
export const BATCH = 10_000

/** Batches timed together: about as long as other measurements take, since the first of a process are slow. */
const BATCHES = 6

/** Writes over HTTP: one record for each request, and 10,000. Every record is new, and durable before the response. */
export const writes: DirectoryCase = {
  name: 'writes',
  async *run(bench) {
    yield singleWrites(bench)
    yield bulk(bench)
    yield upsert(bench)
  },
}

/** One record for each request, beside a server that does nothing with it. */
async function singleWrites(bench: DirectoryBench): Promise<BenchRow> {
  const place = await bench.sheets.fresh('single', { records: 0 })
  const comparison = await compareSingleWrites(bench, place, await startServer('bench/servers/bare.ts'))
  return {
    kind: 'comparison',
    table: 'reach',
    what: SINGLE_WRITES,
    unit: 'requests/s',
    reference: 'bare Fastify that parses the same body',
    ...comparison,
    bound: { atLeast: 0.3 },
  }
}

/** Writes one new record for each request, to a sheet and to another server in turn, and stops both. */
export async function compareSingleWrites(
  { seconds, rounds }: BenchSettings,
  place: SheetPlace,
  reference: ServerProcess,
): Promise<Comparison> {
  const sheet = await serveSheet(place)
  let number = 0
  const body = (): string => JSON.stringify({ records: [benchRecord((number += 1))] })
  const post = (url: string, path: string): Promise<number> =>
    requestsPerSecond({
      url,
      seconds,
      method: 'POST',
      headers: WRITE_HEADERS,
      next: () => ({ path, body: body() }),
    })
  try {
    return await compare(
      rounds,
      () => post(sheet.url, '/api/records'),
      () => post(reference.url, '/records'),
    )
  } finally {
    await sheet.stop()
    await reference.stop()
  }
}

async function bulk({ records, rounds, sheets }: DirectoryBench): Promise<BenchRow> {
  const size = Math.min(BATCH, records)
  const sheet = await serveSheet(await sheets.fresh('bulk', { records: 0 }))
  const db = openReference(join(sheets.directory('reference'), 'reference.db'))
  const nextBatches = newBatches(size)
  try {
    const comparison = await compare(
      rounds * 2,
      () => postBatches(sheet.url, nextBatches()),
      async () => insertBatches(db, nextBatches()),
    )
    return {
      kind: 'comparison',
      table: 'reach',
      what: `POST /api/records, ${size.toLocaleString('en')} records a request`,
      unit: 'records/s',
      reference: 'node:sqlite, the same rows in one transaction',
      ...comparison,
      bound: { atLeast: 0.25 },
    }
  } finally {
    db.close()
    await sheet.stop()
  }
}

/** A large request into a sheet that has half of its records, with other values. */
async function upsert(bench: DirectoryBench): Promise<BenchRow> {
  const records = Math.ceil(bench.records / 10)
  const [value = Number.NaN] = await measureAlone(bench, colophon(9), { records, measures: [bulkUpsert] })
  return {
    kind: 'figure',
    table: 'reach',
    what: `${bulkUpsert.what}, half of them new`,
    unit: bulkUpsert.unit,
    value,
    bound: { atMost: 230 },
  }
}

/** Returns batches of this size, each of new records. */
export function newBatches(size: number): () => Batches {
  let first = 1
  return () =>
    Array.from({ length: BATCHES }, () => {
      const batch = Array.from({ length: size }, (_, index) => benchRecord(first + index))
      first += size
      return batch
    })
}

export type Batches = readonly Record<string, unknown>[][]

/** Upserts a batch with each request; returns records per second. */
export async function postBatches(url: string, batches: Batches): Promise<number> {
  const bodies = batches.map(upsertBody)
  const start = performance.now()
  for (const body of bodies) await postRecords(url, body)
  return (batches.flat().length * 1000) / (performance.now() - start)
}

function insertBatches(db: DatabaseSync, batches: Batches): number {
  const rows = batches.map((batch) => batch.map(sqlRow))
  const start = performance.now()
  for (const batch of rows) insertRows(db, batch)
  return (batches.flat().length * 1000) / (performance.now() - start)
}
