import { benchRecord, wholeRecord } from '../../support/bench-sheet.ts'
import type { BenchRow, PostgresBench, PostgresCase } from '../../support/case.ts'
import { compare } from '../../support/load.ts'
import { copyRow, copyRows, createReference } from '../../support/postgres-reference.ts'
import { connectTo } from '../../support/postgres-sheets.ts'
import { serveSheet, startServer } from '../../support/processes.ts'
import { BATCH, compareSingleWrites, newBatches, postBatches, SINGLE_WRITES } from '../writes.ts'

/** Like those of the other store, but compared with node-postgres: an INSERT for each record, and COPY for large requests. */
export const postgresWrites: PostgresCase = {
  name: 'writes',
  async *run(bench) {
    yield single(bench)
    yield bulk(bench)
  },
}

async function single(bench: PostgresBench): Promise<BenchRow> {
  const place = await bench.sheets.fresh('single', { records: 0 })
  const client = await connectTo(place)
  await createReference(client, benchRecord(1))
  await client.end()
  const reference = await startServer('bench/servers/fastify-postgres.ts', [place])
  return {
    kind: 'comparison',
    table: 'reach',
    what: SINGLE_WRITES,
    unit: 'requests/s',
    reference: 'Fastify with node-postgres, an INSERT and a transaction for each',
    ...(await compareSingleWrites(bench, place, reference)),
    bound: { atLeast: 1 },
  }
}

async function bulk({ records, rounds, sheets }: PostgresBench): Promise<BenchRow> {
  const size = Math.min(BATCH, records)
  const place = await sheets.fresh('bulk', { records: 0 })
  const sheet = await serveSheet(place)
  const client = await connectTo(place)
  const names = Object.keys(wholeRecord(1))
  const next = newBatches(size)
  await createReference(client, wholeRecord(1))
  try {
    const comparison = await compare(
      rounds * 2,
      () => postBatches(sheet.url, next()),
      async () => {
        const batches = next().map((batch) => batch.map((record) => copyRow(names, record)))
        const start = performance.now()
        for (const rows of batches) await copyRows(client, names, rows)
        return (batches.flat().length * 1000) / (performance.now() - start)
      },
    )
    return {
      kind: 'comparison',
      table: 'reach',
      what: `POST /api/records, ${size.toLocaleString('en')} records a request`,
      unit: 'records/s',
      reference: 'node-postgres, COPY of the same rows',
      ...comparison,
      bound: { atLeast: 0.25 },
    }
  } finally {
    await client.end()
    await sheet.stop()
  }
}
