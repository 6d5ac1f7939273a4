import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { startPostgres } from '../../../test/support/postgres.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { ConflictError } from '../../errors/service-error.ts'
import type { SheetStore } from '../sheet-store.ts'
import { AGENT, HUMAN, target, TestSheet, type OpenStore } from '../suite/support/test-sheet.ts'
import { PostgresStore } from './postgres-store.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'

const server = await startPostgres()

/** A schema for each directory. */
const urls = new Map<string, string>()

const open: OpenStore = (directory, { contract, targets, ...options }) => {
  const url = urls.get(directory) ?? server.freshUrl()
  urls.set(directory, url)
  return PostgresStore.open(url, {
    ...options,
    directory: null,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })
}

/** A sheet, and two stores of it without common memory, as those of two servers. */
async function sharedSheet(
  t: TestContext,
): Promise<{ sheet: TestSheet; one: SheetStore; other: SheetStore }> {
  const sheet = await TestSheet.make(t, open, {
    properties: ['{name: n, logicalType: integer}', '{name: sum, logicalType: integer}'],
    targets: [target('sum', ['n'])],
  })
  const other = await sheet.openAnother()
  t.after(() => other.close())
  return { sheet, one: sheet.store, other }
}

function write(store: SheetStore, ...records: readonly JsonObject[]): Promise<unknown> {
  return store.upsert({ body: { records }, defaultActor: HUMAN, ifMatch: null })
}

test('of several servers that decide on a proposal at once, one succeeds', async (t) => {
  const { sheet, one, other } = await sharedSheet(t)
  await write(one, { id: 'a', n: 0 })
  for (let round = 1; round <= 10; round += 1) {
    const change = { records: [{ id: 'a', n: round }] }
    const id = await other.proposals.propose({ change, actor: AGENT, note: null })
    const outcomes = await Promise.allSettled([
      one.proposals.accept({ id, actor: HUMAN }),
      other.proposals.accept({ id, actor: 'human:bob' }),
      one.proposals.reject({ id, actor: HUMAN, reason: null }),
    ])
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.equal(refused.length, 2)
    for (const { reason } of refused) assert.ok(reason instanceof ConflictError, String(reason))
    const state = (await other.proposals.get(id))?.state
    const written = (await sheet.history('a', 'n')).filter((entry) => entry['proposal'] === id)
    assert.equal(written.length, state === 'accepted' ? 1 : 0)
    await write(other, { id: 'a', n: -round })
  }
  assert.equal((await one.proposals.counts()).changes, 20)
})

test('an entry that several servers revert at once is reverted once', async (t) => {
  const { sheet, one, other } = await sharedSheet(t)
  await write(one, { id: 'a', n: 0 })
  for (let round = 1; round <= 10; round += 1) {
    await write(other, { id: 'a', n: round })
    const entry = await sheet.latest('a', 'n')
    const entries = [{ seq: Number(entry?.['seq']), recordId: 'a', field: 'n' }]
    const results = await Promise.all(
      [one, other, one, other].map((store) => store.revert({ actor: HUMAN, entries, run: null })),
    )
    const reverted = results.map((result) => result.reverted).toSorted((a, b) => a - b)
    assert.deepEqual(reverted, [0, 0, 0, 1])
    assert.equal((await sheet.get('a'))?.['n'], 0)
  }
})

test('an earlier state stays the same, page by page, whatever another server writes', async (t) => {
  const { sheet, one, other } = await sharedSheet(t)
  const records = Array.from({ length: 1000 }, (_, n) => ({ id: `r${n}`, n, sum: null }))
  await write(one, ...records)
  const { last: seq } = await other.history()
  let ended = false
  const writing = (async () => {
    for (let round = 1; !ended; round += 1) {
      const some = records.slice((round % 10) * 100, (round % 10) * 100 + 100)
      if (round % 3 === 0)
        await other.delete(
          some.map(({ id }) => id),
          HUMAN,
        )
      else await write(other, ...some.map(({ id }) => ({ id, n: -round })))
    }
  })()
  try {
    for (const limit of [1000, 300, 70]) {
      const found: JsonObject[] = []
      for (let after: number | null = null; ;) {
        const page = await one.pageAsOf({ fields: sheet.fields, limit, after, seq })
        found.push(...(JSON.parse(String(page.records)) as JsonObject[]))
        if (page.next === null) break
        after = page.next
      }
      assert.deepEqual(found, records)
    }
  } finally {
    ended = true
    await writing
  }
})

test('a snapshot is of one moment, while several servers write, revert and decide', async (t) => {
  const { sheet, one, other } = await sharedSheet(t)
  const directory = await mkdtemp(join(tmpdir(), 'colophon-servers-'))
  t.after(() => rm(directory, { recursive: true }))
  let ended = false
  const busy = [one, other].map(async (store, number) => {
    for (let round = 0; !ended; round += 1) {
      const id = `s${number} ${round}`
      await write(store, { id, n: round })
      const proposal = await store.proposals.propose({
        change: { records: [{ id, n: -1 }] },
        actor: AGENT,
        note: null,
      })
      await store.proposals.accept({ id: proposal, actor: HUMAN })
      const entry = (await sheet.latest(id, 'n'))?.['seq']
      await store.revert({
        actor: HUMAN,
        entries: [{ seq: Number(entry), recordId: id, field: 'n' }],
        run: null,
      })
    }
  })
  try {
    for (let round = 0; round < 3; round += 1) {
      const snapshot = await one.snapshot(directory)
      const text = await readFile(join(directory, 'provenance.jsonl'), 'utf8')
      const lines = text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as JsonObject)
      assert.equal(lines.length, snapshot.lastSeq)
      const values = new Map<unknown, unknown>()
      for (const line of lines) {
        const value = line['field'] === undefined ? (line['values'] as JsonObject)['n'] : line['value']
        values.set(line['record_id'], value)
      }
      const records = (await readFile(join(directory, 'records.jsonl'), 'utf8')).split('\n').slice(0, -1)
      const found = records.map((record) => JSON.parse(record) as JsonObject)
      assert.equal(found.length, snapshot.records)
      assert.deepEqual(
        found.map(({ id, n }) => [id, n]),
        [...values],
      )
    }
  } finally {
    ended = true
    await Promise.all(busy)
  }
})
