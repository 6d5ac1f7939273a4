import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { JsonBytes } from '../sheet-store.ts'
import type { OrderResponse } from './past-order-thread.ts'
import type { OrderQuery } from './past-table.ts'
import { entryModule } from '../../package/package-files.ts'

/**
 * Returns the numbers of the records that a query selects, counted from 0 over all pages, in its order. A thread of its own, which ends
 * then, selects and sorts them. Throws the reason of the signal once that aborts.
 */
export async function orderOfPages(
  pages: AsyncIterable<JsonBytes>,
  query: OrderQuery,
  signal: AbortSignal,
): Promise<Uint32Array> {
  const worker = new Worker(entryModule(import.meta.url, 'past-order-thread'), {
    workerData: query,
  })
  // The thread may end while nothing is expected of it, as when memory runs out.
  const ended = new AbortController()
  worker.on('error', (error) => ended.abort(error))
  const either = AbortSignal.any([signal, ended.signal])
  try {
    for await (const page of pages) await respond(worker, page, either)
    const order = await respond(worker, null, either)
    if (order === null) throw new Error('the thread returned no order')
    return order
  } catch (error) {
    either.throwIfAborted()
    throw error
  } finally {
    await worker.terminate()
  }
}

/** Sends a message to the thread and returns its response. */
async function respond(
  worker: Worker,
  message: JsonBytes | null,
  signal: AbortSignal,
): Promise<Uint32Array | null> {
  signal.throwIfAborted()
  worker.postMessage(message)
  const [response] = (await once(worker, 'message', { signal })) as [OrderResponse]
  if ('broken' in response) throw new Error(`the thread that sorts earlier states failed: ${response.broken}`)
  return response.order
}
