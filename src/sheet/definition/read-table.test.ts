import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '../../contract/json/json.ts'
import { sourceOf } from '../../derivation/read-sources.ts'
import { testContract } from '../../derivation/testing/test-contract.ts'
import { readTable, tableReader } from './read-table.ts'

test('other requests are served while the rows of a large table are read', async (t) => {
  const rows = Array.from({ length: 20_000 }, (_, index): JsonValue => ({ key: `k${index}`, value: index }))
  const source = sourceOf('refs/table.json', Buffer.from(JSON.stringify(rows)))
  const columns = { key: 'key', match: 'id', values: { n: 'value' } }
  const contract = testContract({ n: 'integer' })
  // Each row takes the type of its fields from the contract.
  let [inTurn, most] = [0, 0]
  const get = contract.fieldByName.get.bind(contract.fieldByName)
  t.mock.method(contract.fieldByName as Map<string, unknown>, 'get', (name: string) => {
    inTurn += 1
    most = Math.max(most, inTurn)
    return get(name)
  })
  let isReading = true
  const turn = (): void => {
    inTurn = 0
    if (isReading) setImmediate(turn)
  }
  turn()
  const table = await readTable(source, columns, contract)
  isReading = false
  assert.ok(table.ok)
  assert.equal(table.value.size, 20_000)
  assert.deepEqual(table.value.get('k19999'), { values: { n: 19_999 }, count: 1 })
  assert.ok(most > 0 && most < rows.length / 4, `${most} look-ups in the contract in one turn`)
})

test('a table whose rows take too much memory is refused, however its columns share it', async () => {
  const contract = testContract({ n: 'string' })
  const columns = { key: 'key', match: 'id', values: { n: 'value' } }
  const read = tableReader(1 << 20)
  const tableOf = (rows: readonly JsonValue[]): ReturnType<typeof read> =>
    read(sourceOf('refs/table.json', Buffer.from(JSON.stringify(rows))), columns, contract)
  const rows = (count: number, size: number): JsonValue[] =>
    Array.from({ length: count }, (_, index) => ({
      key: `k${index}`,
      value: 'x'.repeat(size),
      other: 'y'.repeat(9),
    }))
  assert.equal((await tableOf(rows(4000, 10))).ok, true)
  assert.equal((await tableOf(rows(100, 4000))).ok, true)
  for (const tooMany of [rows(6000, 10), rows(200, 4000)]) {
    assert.deepEqual(await tableOf(tooMany), {
      ok: false,
      error: 'refs/table.json has too many rows: what is looked up in it takes more than 1 MiB of memory',
    })
  }
  // Rows of one key are counted, and not kept.
  const same = rows(6000, 10).map((row) => Object.assign({}, row, { key: 'same' }))
  const table = await tableOf(same)
  assert.ok(table.ok)
  assert.equal(table.value.get('same')?.count, 6000)
})
