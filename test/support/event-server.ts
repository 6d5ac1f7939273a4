/**
 * An app over the sheet in a directory, in its own process so that its memory can be measured. Publishes frames on command; see
 * event-server-process.ts.
 */
import { setImmediate } from 'node:timers/promises'
import { createApp } from '../../src/http/app.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import type { EventServerAnswer, EventServerOrder } from './event-server-process.ts'
import { numberedFrame } from './numbered-frame.ts'

const [directory = ''] = process.argv.slice(2)
const sheet = await openSheet(directory, { transport: parseStub('{}') })
// Without comments and without closing stalled streams.
const app = createApp(sheet, { keepAliveMs: 2 ** 31 - 1, stalledMs: 2 ** 31 - 1 })
const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))

process.on('message', (order: EventServerOrder) => {
  for (const { number, bytes } of order.publish) sheet.events.publish(numberedFrame(number, bytes))
  void carriedOut(order).then(answer)
})
answer({ port: Number(url.port) })

async function carriedOut({ collect }: EventServerOrder): Promise<EventServerAnswer> {
  // Buffers that the first round finds unused are released by the second.
  for (let round = 0; round < (collect ? 2 : 1); round += 1) {
    await setImmediate()
    if (collect) globalThis.gc?.()
  }
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
  return { subscribers: sheet.events.size, rss, used: heapUsed + arrayBuffers }
}

function answer(message: EventServerAnswer | { port: number }): void {
  process.send?.(message)
}
