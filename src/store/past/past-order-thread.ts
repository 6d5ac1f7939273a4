import { parentPort, workerData } from 'node:worker_threads'
import { PastTable, type OrderQuery } from './past-table.ts'

/** The response to a message: nothing for a page, the order for null. */
export type OrderResponse = { readonly order: Uint32Array<ArrayBuffer> | null } | { readonly broken: string }

/** A thread that receives the records of an earlier state, page by page, and then null, to which it responds with their order. */
function listen(port: NonNullable<typeof parentPort>): void {
  const table = new PastTable(workerData as OrderQuery)
  port.on('message', (page: Uint8Array | null) => {
    try {
      if (page !== null) table.add(page)
      const order = page === null ? (table.order() as Uint32Array<ArrayBuffer>) : null
      port.postMessage({ order } satisfies OrderResponse, order === null ? [] : [order.buffer])
    } catch (error) {
      const broken = error instanceof Error ? (error.stack ?? error.message) : String(error)
      port.postMessage({ broken } satisfies OrderResponse)
    }
  })
}

if (parentPort !== null) listen(parentPort)
