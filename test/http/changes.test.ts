import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createApp } from '../../src/http/app.ts'
import type { SheetFrame } from '../../src/wire/service/sheet-frame.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { acceptProposal, propose } from '../../src/sheet/writes/proposals.ts'
import { listen } from '../support/http-fixture.ts'
import { openOnEngine } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { RawClient } from '../support/raw-client.ts'
import { openLookupSheet } from '../support/run-fixture.ts'
import { editSheet, openTestSheet, writeSheet } from '../support/sheet-fixture.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'

interface Watching {
  /** The next frame that is told. */
  next(): Promise<SheetFrame>
}

async function watch(t: TestContext, sheet: Sheet): Promise<Watching> {
  const app = createApp(sheet)
  onEnd(t, () => app.close())
  const client = await RawClient.open(t, await listen(app))
  client.send('GET /api/sheet/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  return {
    async next() {
      const pattern = /event: sheet\ndata: (.*)\n\n/
      const text = await client.waitFor((received) => pattern.test(received))
      const found = pattern.exec(text) ?? assert.fail()
      client.received = text.slice(found.index + found[0].length)
      return JSON.parse(found[1] ?? '') as SheetFrame
    },
  }
}

test('a listener gets the state of the sheet at first, and again when a value changes', async (t) => {
  const sheet = await openTestSheet(t)
  const { next } = await watch(t, sheet)
  const first = await next()
  assert.equal(first.seq, 1)
  await upsertRecords(sheet, { records: [{ id: 'a', price: 9 }], actor: 'human:ann' })
  const second = await next()
  assert.deepEqual(second, { ...first, seq: 2 })
})

test('so it does for changes of another process', async (t) => {
  const directory = await writeSheet(t)
  const sheets = [await openOnEngine(directory), await openOnEngine(directory)] as const
  for (const sheet of sheets) onEnd(t, () => sheet.close())
  const { next } = await watch(t, sheets[0])
  const { seq } = await next()
  await upsertRecords(sheets[1], { records: [{ id: 'a', price: 9 }], actor: 'human:ann' })
  assert.equal((await next()).seq, seq + 1)
})

test('a proposal is reported when it is made and when it is decided', async (t) => {
  const sheet = await openTestSheet(t)
  const { next } = await watch(t, sheet)
  const before = await next()
  const change = { records: [{ id: 'a', price: 9 }] }
  await propose(sheet, { change, actor: 'agent:writer', note: null })
  assert.deepEqual(await next(), { ...before, proposals: before.proposals + 1 })
  await acceptProposal(sheet, { id: '1', actor: 'human:ann' })
  let decided = await next()
  // Where another process may write, the parts of a state are read one after the other.
  while (decided.seq === before.seq) decided = await next()
  assert.deepEqual(decided, { ...before, seq: before.seq + 1, proposals: before.proposals + 2 })
})

test('a run is reported when it begins and when it ends', async (t) => {
  const run = await openLookupSheet(t, [{ id: 'a', a: 'x' }])
  const { next } = await watch(t, run.sheet)
  const before = await next()
  const hold = run.api.hold('*')
  const ended = run.start()
  await hold.arrived()
  let state = await next()
  while (!state.runs.includes('"running"')) state = await next()
  assert.notEqual(state.runs, before.runs)
  hold.release()
  await ended
  while (state.runs.includes('"running"')) state = await next()
  assert.equal(state.seq, before.seq + 1)
})

test('D3: a definition file that becomes invalid, and is fixed, is reported', async (t) => {
  const directory = await writeSheet(t)
  const sheet = await openOnEngine(directory)
  onEnd(t, () => sheet.close())
  const { next } = await watch(t, sheet)
  const sound = await next()
  const contract = await readFile(join(directory, 'contract.yaml'), 'utf8')
  await editSheet(directory, 'contract.yaml', 'kind: nothing\n')
  // The definition of a state can have been read before the edit, and the rest of it after that.
  let broken = await next()
  while (broken.definition === sound.definition) broken = await next()
  await editSheet(directory, 'contract.yaml', contract)
  let mended = await next()
  while (mended.definition === broken.definition) mended = await next()
  assert.deepEqual(mended, sound)
})
