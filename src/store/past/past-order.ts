import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { JsonBytes } from '../sheet-store.ts'
import type { OrderResponse } from './past-order-thread.ts'
import type { OrderQuery } from './past-table.ts'

/**
 * Returns the numbers of the records that a query selects, counted from 0 over all pages, in its order. A thread of its own, which ends
 * then, selects and sorts them. Throws the reason of the signal once that aborts.
 */
export async function orderOfPages(
  pages: AsyncIterable<JsonBytes>,
  query: OrderQuery,
  signal: AbortSignal,
): Promise<Uint32Array> {
  // The extension of this file: TypeScript in the repository, JavaScript in the package.
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const worker = new Worker(new URL(`./past-order-thread${extension}`, import.meta.url), {
    workerData: query,
  })
  try {
    for await (const page of pages) await respond(worker, page, signal)
    const order = await respond(worker, null, signal)
    if (order === null) throw new Error('the thread returned no order')
    return order
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
  // `once` rejects when the thread ends with an error.
  const [response] = (await once(worker, 'message', { signal })) as [OrderResponse]
  if ('broken' in response) throw new Error(`the thread that sorts earlier states failed: ${response.broken}`)
  return response.order
}
