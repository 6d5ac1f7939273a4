import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RESULT_LIMIT } from '../../src/mcp/tools/call-tool.ts'
import { startAgent } from '../support/agent.ts'
import { perEngine } from '../support/engine.ts'
import { writeLookupSheet } from '../support/lookup-files.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

test('an error has the problem and the next step for an agent, in terms of tools', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  const agent = await startAgent(t, sheet, { transport: 'http', era: '2025-11-25' })
  for (const [tool, args, message] of [
    [
      'list_records',
      { field: ['a'] },
      /^ValidationError: unknown argument "field"; known here: fields, filter/,
    ],
    [
      'list_records',
      { fields: ['x'] },
      /^ValidationError: unknown field "x"; the contract has id, a, b, secret_note/,
    ],
    ['get_contract', { fields: ['x'] }, /^ValidationError: unknown field "x"; the contract has id, a, b/],
    ['list_records', { limit: 0 }, /^ValidationError: "limit" is 0; expected a whole number from 1 to 1000/],
    ['list_records', { fields: 'a' }, /^ValidationError: "fields" is "a"; expected an array of field names/],
    ['list_records', { cursor: 'made-up' }, /^ValidationError: cursor was not issued/],
    [
      'list_records',
      { filter: 'a =' },
      perEngine({
        sqlite: /^QueryError: [^]*The dialect is SQLite/,
        postgres: /^QueryError: [^]*The dialect is PostgreSQL/,
      }),
    ],
    ['query', { sql: 'DELETE FROM records' }, /^QueryError: [^]*Send one SELECT/],
    ['query', {}, /^ValidationError: "sql" is required/],
    [
      'get_record',
      { id: 'nobody' },
      /^SheetError: no record "nobody"\nlist_records and query return the ids/,
    ],
    ['get_run', { id: '7' }, /^SheetError: no run "7"; list_runs lists them$/],
    ['get_status', { targets: ['a'] }, /^OperationError: no derivation has the target "a"; targets are b/],
    [
      'plan_materialize',
      { only: 'all' },
      /^ValidationError: "only" is "all"; expected missing, stale or failed/,
    ],
    [
      'upsert_records',
      { records: [{ id: 'r0', secret_note: 'x' }] },
      /^PermissionDeniedError: .*actor "agent" may not write it; it is editable by human:\*.*\nget_permissions/,
    ],
    ['upsert_records', { records: [{ id: 'r0', b: 'x' }] }, /it is derived, so materialize computes it/],
    ['upsert_records', { records: ['r0'] }, /^ValidationError: "records\[0\]" is "r0"; expected an object/],
    ['upsert_records', { records: [{ id: 'r0', a: 1 }] }, /^ValidationError: records\[0\]/],
    [
      'upsert_records',
      { records: [] },
      /^ValidationError: "records" is an empty array; expected an array of records/,
    ],
    [
      'upsert_records',
      { records: [{ id: 'r0' }], if_version: '99' },
      /^OperationError: record "r0" has version [^]*\nget_record returns the record/,
    ],
    ['cancel_run', { id: '7' }, /^SheetError: no run "7"/],
    ['revert_cell', { record_id: 'r0', field: 'a', seq: 99 }, /^SheetError: .*get_provenance/],
    ['get_provenance', { record_id: 'r0', field: 'x' }, /^ValidationError: unknown field "x"/],
  ] as const) {
    assert.match(await agent.fails(tool, args), message, `${tool} ${JSON.stringify(args)}`)
  }
})

test('an optional argument that is null is absent', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  const agent = await startAgent(t, sheet, { transport: 'http', era: '2025-11-25' })
  const { structured } = await agent.call('list_records', { fields: null, filter: null, limit: 1 })
  assert.equal((structured['records'] as unknown[]).length, 1)
})

test('results are small by default, and explain how to get more', async (t) => {
  const { sheet } = await writeLookupSheet(t, { records: 30 })
  const agent = await startAgent(t, sheet, { transport: 'http', era: '2025-11-25' })
  const page = await agent.call('list_records', { fields: ['id'] })
  assert.equal((page.structured['records'] as unknown[]).length, 20)
  assert.match(page.text, /^20 records\. More follow: call again with cursor set to next_cursor\.$/)
  const rows = await agent.call('query', { sql: 'SELECT id FROM records' })
  assert.deepEqual([rows.structured['count'], rows.structured['truncated']], [20, true])
  assert.match(rows.text, /^The first 20 of 30 rows\./)
  await agent.call('materialize')
  await agent.call('materialize', { force: true })
  for (let times = 0; times < 21; times += 1) {
    await agent.call('upsert_records', { records: [{ id: 'r0', a: `w${times}` }] })
  }
  const history = await agent.call('get_provenance', { record_id: 'r0', field: 'a', history: true })
  assert.deepEqual(
    [(history.structured['entries'] as unknown[]).length, history.structured['has_more']],
    [20, true],
  )
  assert.match(history.text, /^20 entries\. There are earlier ones: raise limit/)
})

test('a result that is far too long is refused with advice', async (t) => {
  const sheet = await writeSheet(t, {
    records: [
      { id: 'a', title: 'x'.repeat(RESULT_LIMIT) },
      // Certainly too long already by its bytes.
      { id: 'b', title: 'x'.repeat(4 * RESULT_LIMIT) },
    ],
    derivations: {},
  })
  const agent = await startAgent(t, sheet, { transport: 'http', era: '2025-11-25' })
  assert.match(await agent.fails('get_record', { id: 'a' }), /^OperationError: the result has .*with fields$/)
  assert.match(await agent.fails('list_records', { limit: 1 }), /with fields or limit$/)
  assert.match(await agent.fails('get_record', { id: 'b' }), /^OperationError: the result has .*with fields$/)
  assert.match(await agent.fails('get_record', { id: 'b', as_of: '1' }), /with fields$/)
  assert.match(await agent.fails('list_records'), /with fields or limit$/)
  await agent.call('get_record', { id: 'a', fields: ['id'] })
})

test('a run that ended early has the next step for the code of its error', async (t) => {
  const { sheet, api } = await writeLookupSheet(t)
  api.answer('*', { status: 401, text: 'wrong key' })
  const agent = await startAgent(t, sheet, { transport: 'http', era: '2025-11-25' })
  assert.match(
    await agent.fails('materialize'),
    /^OperationError: .*It ended early: .*refused a call.*401: wrong key[^]*\nlist_run_failures lists the failed calls\./,
  )
})
