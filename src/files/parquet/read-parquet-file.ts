import { parseExactly } from '../../contract/json/exact-json.ts'
import type { FileSource, RawRecord, RawRecords } from '../io/raw-records.ts'
import { sizeOfFile } from '../io/source-error.ts'
import type { ParquetReply } from './parquet-protocol.ts'
import { ParquetThread, type ParquetLimits } from './parquet-thread-client.ts'

/** What reading a Parquet file may take, unless it is told otherwise. */
export const PARQUET_LIMITS: ParquetLimits = { heapMiB: 2048, deadlineMs: 120_000 }

/**
 * Reads a Parquet file, one row group at a time. Integers and decimals that JSON does not keep are a
 * `WrittenNumber`, bytes become texts. Throws
 * ValidationError for a file that is damaged, or that comes to more than fits into memory once it is decompressed.
 */
export async function readParquetFile(
  source: FileSource,
  limits: ParquetLimits = PARQUET_LIMITS,
): Promise<RawRecords> {
  await sizeOfFile(source)
  const { fields, total } = await look(source, limits)
  let seen = 0
  async function* batches(): AsyncGenerator<readonly RawRecord[]> {
    seen = 0
    for await (const batch of repliesOf(source, limits)) {
      if (batch.kind !== 'batch') continue
      const records = parseExactly(batch.records, { writtenIntegers: true }) as readonly RawRecord[]
      seen += records.length
      yield records
    }
  }
  return {
    source,
    fields,
    cells: 'values',
    unit: 'record',
    batches: { [Symbol.asyncIterator]: batches },
    progress: () => (total === 0 ? 1 : Math.min(1, seen / total)),
  }
}

async function look(
  source: FileSource,
  limits: ParquetLimits,
): Promise<{ readonly fields: readonly string[]; readonly total: number }> {
  for await (const answer of repliesOf(source, limits)) if (answer.kind === 'opened') return answer
  throw new Error('the thread that reads a Parquet file ended without an answer')
}

async function* repliesOf(source: FileSource, limits: ParquetLimits): AsyncGenerator<ParquetReply> {
  const thread = new ParquetThread(source, limits)
  try {
    for (;;) {
      const answer = await thread.next()
      if (answer.kind === 'end') return
      // It makes the next one while this one is looked at.
      thread.ask()
      yield answer
    }
  } finally {
    await thread.end()
  }
}
