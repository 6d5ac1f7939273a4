import { parseExactly } from '../../contract/json/exact-json.ts'
import type { FileSource, RawRecord, RawRecords } from '../io/raw-records.ts'
import { sizeOfFile } from '../io/source-error.ts'
import type { ParquetReply } from './parquet-protocol.ts'
import { ParquetThread, type ParquetLimits } from './parquet-thread-client.ts'

/** The default limits for reading a Parquet file. */
export const PARQUET_LIMITS: ParquetLimits = { heapMiB: 2048, deadlineMs: 120_000 }

/**
 * Reads a Parquet file, one row group at a time. Integers and decimals that JSON cannot represent are a
 * `WrittenNumber`, bytes become texts. Throws ValidationError for a damaged file, or one that does not fit into
 * memory when decompressed.
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
      // The thread reads the next batch while this one is processed.
      thread.ask()
      yield answer
    }
  } finally {
    await thread.end()
  }
}
