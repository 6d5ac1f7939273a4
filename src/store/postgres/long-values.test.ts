import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startPostgres } from '../../../test/support/postgres.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { PATIENT_LIMITS } from '../suite/support/patient-limits.ts'
import { TestSheet, type OpenStore } from '../suite/support/test-sheet.ts'
import { ClientConnection } from './database/connection.ts'
import { PostgresStore } from './postgres-store.ts'

const server = await startPostgres()

const open: OpenStore = (directory, { contract, targets, ...options }) =>
  PostgresStore.open(server.freshUrl(), {
    ...options,
    directory,
    definition: { contract, targets },
    queryLimits: PATIENT_LIMITS,
  })

/** Bytes of a piece in which a long line or value arrives. */
const PIECE_BYTES = 256 << 10

/** Values of at least 600 KiB, with members that PostgreSQL stores in another order. */
const TEXTS = ['é', 'ü', 'a"'].map((text) => text.repeat(300 << 10))
const LISTS = [1, 2, 3].map((n): JsonValue => Array.from({ length: 60_000 }, () => ({ bb: n, a: 'é' })))

/** Returns the size of the longest value in a row that a statement has returned, in characters or bytes. */
function watchRows(t: TestContext): () => number {
  let longest = 0
  const { all } = ClientConnection.prototype
  t.mock.method(
    ClientConnection.prototype,
    'all',
    async function (this: ClientConnection, ...params: Parameters<typeof all>) {
      const rows = await all.apply(this, params)
      for (const row of rows) {
        for (const value of Object.values(row)) {
          if (typeof value === 'string' || value instanceof Uint8Array)
            longest = Math.max(longest, value.length)
        }
      }
      return rows
    },
  )
  return () => longest
}

/** Returns a value as a client receives it: long values that stay JSON text are parsed. */
function sent<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

test('long values of the log and of earlier states arrive in pieces', async (t) => {
  const sheet = await TestSheet.make(t, open, {
    properties: [
      '{name: name, logicalType: string}',
      '{name: text, logicalType: string}',
      '{name: list, logicalType: array}',
    ],
    records: [{ id: 'imported', text: TEXTS[0] ?? '', list: LISTS[0] ?? null }],
  })
  const { store } = sheet
  const fields = ['id', 'name', 'text', 'list']
  const states: unknown[] = []
  for (const [index, text] of TEXTS.entries()) {
    const list = LISTS[index] ?? null
    await sheet.write([{ id: 'r', name: String(index), text, list }])
    states.push({ id: 'r', name: String(index), text, list })
  }
  const longest = watchRows(t)
  const { last } = await store.history()
  for (const [index, field] of (['text', 'list'] as const).entries()) {
    const values = [TEXTS, LISTS][index] ?? []
    const found = await store.entries({ recordId: 'r', field, from: null, limit: 1 })
    assert.deepEqual(sent(found?.entries.map(({ value }) => value)), [values[0]])
    const latest = await store.provenance('r', field, 1)
    assert.deepEqual(sent(latest?.entries[0]?.['value']), values[2])
    assert.deepEqual(sent(latest?.entries[0]?.['previous']), values[1])
    const imported = await store.entries({ recordId: 'imported', field, from: null, limit: 1 })
    assert.deepEqual(sent(imported?.entries[0]?.['value']), values[0])
  }
  for (const [index, state] of states.entries()) {
    const record = await store.recordAsOf('r', fields, last - 2 + index)
    assert.deepEqual(JSON.parse(String(record)), state)
  }
  assert.equal(await store.seqAt(await store.now()), last)
  assert.ok(longest() <= PIECE_BYTES, `${longest()} at once`)
})
