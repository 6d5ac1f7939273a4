import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import type { CellChange } from '../../src/derivation/run-request.ts'
import { createApp } from '../../src/http/app.ts'
import { CELLS_LISTED } from '../../src/sheet/run-feed.ts'
import { listen } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { RawClient } from '../support/raw-client.ts'
import { openLookupSheet } from '../support/run-fixture.ts'

/** Cells of about 1 KB each, which is as much as a frame tells of one. */
const CELLS = Array.from({ length: CELLS_LISTED }, (_, index): CellChange => ({
  recordId: `r${index}`,
  field: 'b',
  state: 'fresh',
  value: 'x'.repeat(900),
}))

test("a stalled client of a run's stream delays neither the run nor other clients, and is disconnected after a while", async (t) => {
  const run = await openLookupSheet(t, [{ id: 'a', a: 'x' }])
  // Real time: a busy machine may keep the one that reads waiting for a good part of it.
  const app = createApp(run.sheet, { stalledMs: 1500 })
  onEnd(t, () => app.close())
  const connections: Socket[] = []
  app.server.on('connection', (socket) => connections.push(socket))
  const port = await listen(app)
  const hold = run.api.hold('*')
  const ended = run.start()
  await hold.arrived()
  const watch = async (): Promise<RawClient> => {
    const client = await RawClient.open(t, port)
    client.send('GET /api/runs/1/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await client.waitFor((text) => text.includes('event: run.progress'))
    return client
  }
  const [stalled, reader] = [await watch(), await watch()]
  const cutOff = once(connections[0] ?? assert.fail(), 'close')
  stalled.socket.pause()
  const feed = run.sheet.runs.get('1')?.feed ?? assert.fail()
  // A feed gathers what happens for a while; here that while is over at once.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (let count = 0; count < 80; count += 1) {
    reader.received = ''
    feed.onCells(CELLS)
    t.mock.timers.tick(1000)
    // As a whole: of a frame that the next round still got a part of, it would not know the beginning.
    await reader.waitFor((text) => /event: run\.cells\ndata: .*\n\n/.test(text))
  }
  t.mock.timers.reset()
  await cutOff
  stalled.socket.resume()
  const text = await stalled.end()
  assert.match(text, /event: run\.cells/)
  assert.doesNotMatch(text, /\r\n0\r\n\r\n$/)
  hold.release()
  assert.equal((await ended).materialized, 1)
  assert.match(await reader.end(), /event: run\.end\ndata: .*"state":"finished".*\n\n\r\n0\r\n\r\n$/)
})
