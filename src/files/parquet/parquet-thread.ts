import { once } from 'node:events'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { toPlainError } from '../../errors/service-error.ts'
import type { ParquetReply, ParquetThreadData } from './parquet-protocol.ts'
import { openParquet } from './parquet-records.ts'

/**
 * Reads a Parquet file for another thread, one batch per request. The thread has a memory limit: a few bytes can make
 * the library allocate gigabytes.
 */
async function read(port: MessagePort): Promise<void> {
  const { source } = workerData as ParquetThreadData
  const answer = (message: ParquetReply): void => port.postMessage(message)
  try {
    const { fields, total, batches } = await openParquet(source)
    answer({ kind: 'opened', fields, total })
    await once(port, 'message')
    for await (const records of batches()) {
      answer({ kind: 'batch', records: JSON.stringify(records) })
      await once(port, 'message')
    }
    answer({ kind: 'end' })
  } catch (error) {
    const plain = toPlainError(error)
    if (plain !== undefined) answer({ kind: 'refused', error: plain })
    else answer({ kind: 'broken', stack: error instanceof Error ? String(error.stack) : String(error) })
  } finally {
    port.close()
  }
}

if (parentPort === null) throw new Error('this file is the entry of a thread')
void read(parentPort)
