import { wholeRecord } from '../../support/bench-sheet.ts'
import type { BenchRow, PostgresBench, PostgresCase } from '../../support/case.ts'
import { compare } from '../../support/load.ts'
import { copyRow, copyRows, createReference } from '../../support/postgres-reference.ts'
import { connectTo } from '../../support/postgres-sheets.ts'
import { serveSheet } from '../../support/processes.ts'
import { BATCH, newBatches, postBatches, singleWrites } from '../writes.ts'

/** Like those of the other store, but large batches are compared with COPY. */
export const postgresWrites: PostgresCase = {
  name: 'writes',
  async *run(bench) {
    yield singleWrites(bench)
    yield bulk(bench)
  },
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
