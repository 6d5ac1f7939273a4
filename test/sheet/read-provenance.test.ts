import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLog } from '../support/engine.ts'
import { lookup, openLookupSheet, openRunSheet } from '../support/run-fixture.ts'

test('D35: an unknown field and a record that never existed are errors; a cell without entries is null', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await assert.rejects(run.entry('1', 'nope'), {
    type: 'ValidationError',
    message: /^unknown field "nope"; the contract has id, a, b/,
  })
  await assert.rejects(run.entry('none', 'nope'), { type: 'ValidationError' })
  for (const id of ['none', '', 'A', '1 ']) {
    await assert.rejects(run.entry(id, 'a'), {
      type: 'SheetError',
      message: `no record ${JSON.stringify(id)} has ever existed`,
    })
    await assert.rejects(run.history(id, 'a'), { type: 'SheetError' })
  }
  assert.equal(await run.entry('1', 'b'), null)
  assert.deepEqual(await run.history('1', 'b'), [])
})

test('D33, D34, D35: the history of a cell has all of its entries, oldest first, across deletion and return', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', "{name: b, logicalType: string, x-editable-by: ['user:*']}"],
    records: [{ id: '1', a: 'x', b: 'imported' }],
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a') }),
  })
  run.api.answer('*', { json: { value: 'called' } })
  await run.run({ force: true, overwriteManual: true, actor: 'user:ann' })
  await run.write({ id: '1', b: 'by hand' })
  await run.write({ id: '1', b: 'by hand' })
  await run.write({ id: '1', b: null })
  await run.run()
  await run.delete('1')
  assert.equal((await run.entry('1', 'b'))?.['source'], 'delete')
  await run.write({ id: '1', a: 'x' })
  await run.run({ targets: [] })
  await run.run({ actor: 'agent:other' })

  const history = await run.history('1', 'b')
  const steps = history.map((entry) =>
    ['seq', 'source', 'actor', 'previous', 'value', 'cached'].map((key) => entry[key] ?? null),
  )
  assert.deepEqual(steps, [
    [1, 'import', 'system', null, 'imported', null],
    [2, 'http', 'user:ann', 'imported', 'called', false],
    [3, 'write', 'user:ann', 'called', 'by hand', null],
    [4, 'write', 'user:ann', 'by hand', null, null],
    [5, 'http', 'agent:runner', null, 'called', true],
    [6, 'delete', 'user:ann', 'called', null, null],
    [8, 'http', 'agent:other', null, 'called', true],
  ])
  for (const entry of history) {
    assert.match(String(entry['at']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual([entry['record_id'], entry['field']], ['1', 'b'])
    assert.ok(!Object.hasOwn(entry, 'values'))
  }
  assert.deepEqual(await run.entry('1', 'b'), history.at(-1))
  assert.equal(run.api.requests.length, 1)
  assert.deepEqual(
    (await run.history('1', 'a')).map(({ seq }) => seq),
    [1, 6, 7],
  )
})

test('D33: the log has a line for each computed cell and none for skipped or failed ones', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'bad' },
    { id: '3' },
    { id: '4', a: 'x' },
  ])
  run.api.answer('/b/bad', { json: null, status: 500 })
  await run.run()
  await run.run()
  const lines = await readLog(run.directory)
  assert.deepEqual(
    lines.map(({ seq }) => seq),
    [1, 2, 3],
  )
  assert.deepEqual(lines.slice(1), [await run.entry('1', 'b'), await run.entry('4', 'b')])
  assert.deepEqual(
    lines.slice(1).map(({ cached }) => cached),
    [false, true],
  )
})
