import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import type { CellCommit } from '../cell-work.ts'
import { bytesOf, DEFAULT_RESPONSE_LIMIT, type ReceivedResponse } from '../stored-responses.ts'
import { hashOf, TestSheet, type OpenStore } from './support/test-sheet.ts'

/** Tests of kept responses: which are kept, and which are removed first. */
export function testResponses(open: OpenStore): void {
  suite('kept responses', () => {
    const response = (name: string, body = `{"of":"${name}"}`): ReceivedResponse => ({
      request: hashOf(name),
      status: 200,
      durationMs: 7,
      body,
    })
    const commit = async (sheet: TestSheet, more: Partial<CellCommit>): Promise<void> => {
      await sheet.store.commitCells({ ...(await sheet.commitOf()), ...more })
    }
    const kept = async ({ store }: TestSheet, names: readonly string[]): Promise<string[]> => {
      const notes = await store.responses.find(names.map(hashOf))
      return names.filter((name) => notes.has(hashOf(name)))
    }
    const make = async (t: Parameters<typeof TestSheet.make>[0]): Promise<TestSheet> =>
      TestSheet.make(t, open, { properties: ['{name: a, logicalType: string}'] })
    const keep = (sheet: TestSheet, ...responses: readonly ReceivedResponse[]): Promise<void> =>
      commit(sheet, { responses })

    test('a response is kept as received, with its time, after the store is reopened', async (t) => {
      const sheet = await make(t)
      const body = '{"lines": "one",\n "text": "é€😀\\n\\u0000",\n\n "list": [1.50, 1e3]}\n'
      await keep(sheet, response('a', body), response('b'))
      await sheet.reopen()
      const read = await sheet.store.responses.read(hashOf('a'))
      assert.ok(read !== null)
      const { at, ...rest } = read
      assert.deepEqual(rest, response('a', body))
      assert.ok(Math.abs(Date.parse(at) - Date.now()) < 600_000)
      assert.equal(await sheet.store.responses.read(hashOf('c')), null)
      const notes = await sheet.store.responses.find([hashOf('a'), hashOf('c')])
      assert.deepEqual([...notes], [[hashOf('a'), { at, bytes: bytesOf(response('a', body)) }]])
    })

    test('a newer response to the same request replaces the one before', async (t) => {
      const sheet = await make(t)
      await keep(sheet, response('a', '1'), response('a', '2'))
      await keep(sheet, response('a', '3'))
      assert.equal((await sheet.store.responses.read(hashOf('a')))?.body, '3')
      const { count, bytes, limit, oldest, newest } = await sheet.store.responses.summary()
      assert.deepEqual([count, bytes, limit], [1, bytesOf(response('a', '3')), DEFAULT_RESPONSE_LIMIT])
      assert.equal(oldest, newest)
    })

    test('beyond the limit the least recently used responses are removed first', async (t) => {
      const sheet = await make(t)
      const names = Array.from({ length: 10 }, (_, number) => `r${number}`)
      const size = bytesOf(response('r0'))
      await sheet.store.responses.setLimit(size * 10)
      for (const name of names) {
        await keep(sheet, response(name))
        await nextMillisecond()
      }
      assert.deepEqual(await kept(sheet, names), names)
      await commit(sheet, { used: [hashOf('r0')] })
      await keep(sheet, response('more'))
      // Down to seven eighths, so that not every later response removes another.
      assert.deepEqual(await kept(sheet, [...names, 'more']), ['r0', ...names.slice(4), 'more'])
      assert.equal((await sheet.store.responses.summary()).bytes, size * 8 + 2)
      // Replaced responses are not counted twice.
      for (let round = 0; round < 20; round += 1) await keep(sheet, response('more'))
      assert.deepEqual(await kept(sheet, names), ['r0', ...names.slice(4)])
    })

    test('a response larger than an eighth of the limit is not kept, and with a limit of 0 none is', async (t) => {
      const sheet = await make(t)
      await sheet.store.responses.setLimit(bytesOf(response('a')) * 8)
      await keep(sheet, response('a'), response('large', '"too long by a few characters"'))
      assert.deepEqual(await kept(sheet, ['a', 'large']), ['a'])
      assert.deepEqual(await sheet.store.responses.setLimit(0), { removed: 1, bytes: bytesOf(response('a')) })
      assert.equal(await sheet.store.responses.limit(), 0)
      await keep(sheet, response('a'))
      const none = { count: 0, bytes: 0, limit: 0, recordedBytes: 0, oldest: null, newest: null }
      assert.deepEqual(await sheet.store.responses.summary(), none)
    })

    test('the recording has the calls in their order, also in a store that is opened again, but not in a copy', async (t) => {
      const sheet = await make(t)
      const lines = Array.from({ length: 150 }, (_, number) => `{"number":${number},"text":"ü\\n\\u0000"}`)
      await commit(sheet, { recorded: lines.slice(0, 70) })
      await commit(sheet, { recorded: lines.slice(70), responses: [response('a')] })
      await sheet.store.storeResults({ cache: [], recorded: ['{"run":"preview"}'] })
      await sheet.reopen()
      const recorded = await sheet.store.responses.recorded(0)
      const all = [...lines, '{"run":"preview"}']
      assert.deepEqual(
        recorded.lines.map(({ line }) => line),
        all,
      )
      for (const { at } of recorded.lines) assert.ok(Math.abs(Date.parse(at) - Date.now()) < 600_000)
      assert.deepEqual(await sheet.store.responses.recorded(recorded.next), {
        lines: [],
        next: recorded.next,
      })
      const { recordedBytes } = await sheet.store.responses.summary()
      assert.equal(
        recordedBytes,
        all.reduce((sum, line) => sum + Buffer.byteLength(line), 0),
      )
      const directory = await mkdtemp(join(tmpdir(), 'colophon-recording-'))
      t.after(() => rm(directory, { recursive: true }))
      await sheet.store.snapshot(directory)
      const copy = new DatabaseSync(join(directory, 'sheet.db'))
      t.after(() => copy.close())
      assert.deepEqual({ ...copy.prepare('SELECT count(*) AS lines FROM "$recorded"').get() }, { lines: 0 })
      assert.equal(readFileSync(join(directory, 'sheet.db')).includes('"number":149'), false)
    })

    test('the oldest lines of the recording are removed beyond the limit, by age and down to a size', async (t) => {
      const sheet = await make(t)
      const { responses } = sheet.store
      const line = (name: string): string => JSON.stringify(name.padEnd(98, '.'))
      const recorded = async (): Promise<string[]> =>
        (await responses.recorded(0)).lines.map(({ line: text }) => (JSON.parse(text) as string).slice(0, 1))
      await responses.setLimit(500)
      await commit(sheet, { recorded: ['a', 'b', 'c', 'd'].map(line) })
      await commit(sheet, { recorded: [line('e'), line('f'), JSON.stringify('long'.repeat(200))] })
      assert.deepEqual(await recorded(), ['b', 'c', 'd', 'e', 'f'])
      assert.equal((await responses.summary()).recordedBytes, 500)
      await responses.trim({ before: null, maxBytes: 300 })
      assert.deepEqual(await recorded(), ['d', 'e', 'f'])
      await nextMillisecond()
      const before = await responses.now()
      await nextMillisecond()
      await commit(sheet, { recorded: [line('g')] })
      await responses.trim({ before, maxBytes: null })
      assert.deepEqual(await recorded(), ['g'])
      await responses.setLimit(0)
      await commit(sheet, { recorded: [line('h')] })
      assert.deepEqual(await recorded(), [])
    })

    test('responses are removed by age and down to a size', async (t) => {
      const sheet = await make(t)
      await keep(sheet, response('a'))
      await nextMillisecond()
      await keep(sheet, response('b'), response('c'))
      const { responses } = sheet.store
      const size = bytesOf(response('a'))
      const newest = (await responses.find([hashOf('b')])).get(hashOf('b'))?.at ?? ''
      assert.deepEqual(await responses.trim({ before: newest, maxBytes: null }), { removed: 1, bytes: size })
      assert.deepEqual(await kept(sheet, ['a', 'b', 'c']), ['b', 'c'])
      assert.deepEqual(await responses.trim({ before: null, maxBytes: size }), { removed: 1, bytes: size })
      assert.equal((await responses.summary()).count, 1)
      assert.deepEqual(await responses.trim({ before: null, maxBytes: 0 }), { removed: 1, bytes: size })
      assert.equal((await responses.summary()).bytes, 0)
    })

    test('thousands of responses are removed like one', async (t) => {
      const sheet = await make(t)
      const many = Array.from({ length: 2500 }, (_, number) => response(`r${number}`))
      await keep(sheet, ...many)
      const { bytes } = await sheet.store.responses.summary()
      assert.deepEqual(await sheet.store.responses.trim({ before: null, maxBytes: 0 }), {
        removed: 2500,
        bytes,
      })
    })
  })
}

/** Resolves when the clock shows another millisecond: what was stored before is older than what is stored after. */
async function nextMillisecond(): Promise<void> {
  for (const before = Date.now(); Date.now() === before;) await new Promise(setImmediate)
}
