import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { evidenceOf } from '../../src/derivation/definition/evidence.ts'
import { exportRecords } from '../../src/sheet/transfer/export-records.ts'
import { usedResources } from '../../src/sheet/calls/used-resources.ts'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { validateSheet, type SheetFault } from '../../src/sheet/lifecycle/validate-sheet.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import { perEngine, skipOnPostgres } from '../support/engine.ts'
import { allBytes } from '../support/init-files.ts'
import { openRunSheet, type RunSheet } from '../support/run-fixture.ts'

const ALL = { targets: null, recordIds: null, force: false }

const LOOK_UP: JsonObject = {
  targets: ['sector', 'staff'],
  kind: 'import',
  source: 'refs/companies.csv',
  key_field: 'domain',
  match: 'site',
  value_fields: { sector: 'branch', staff: 'employees' },
}

const COMPANIES = 'domain,branch,employees\na.example,Retail,12\nb.example,Energy,\nc.example,Retail,7\n'

const SITES = ['a.example', 'b.example', 'c.example', 'a.example', 'z.example', null]

interface Given {
  readonly file?: JsonObject
  readonly path?: string
  readonly table?: string | Uint8Array | null
  readonly properties?: readonly string[]
  readonly records?: readonly JsonObject[]
}

/** Opens a sheet of sites with the look-up of their companies. */
async function openLookUp(t: TestContext, given: Given = {}): Promise<RunSheet> {
  const { file = {}, path = 'refs/companies.csv', table = COMPANIES } = given
  const run = await openRunSheet(t, {
    properties: given.properties ?? ['site: string', 'sector: string', 'staff: integer'],
    records: given.records ?? SITES.map((site, index) => ({ id: `${index + 1}`, site })),
    derivations: () => ({ 'company.yaml': { ...LOOK_UP, source: path, ...file } }),
  })
  await mkdir(join(run.directory, 'refs'), { recursive: true })
  if (table !== null) await run.edit(path, table)
  return run
}

test('a look-up fills targets from the row with the key, without calls', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookUp(t)
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.calls, plan.cost, plan.targets['sector']?.compute], [0, 0, 4])
  assert.deepEqual(plan.targets['sector']?.blocked, { input_empty: 1 })
  const { materialized, skipped, failures, totalCost } = await run.run({ maxCalls: 0 })
  assert.deepEqual([materialized, skipped, failures.length, totalCost], [8, 4, 0, 0])
  assert.deepEqual(await run.record('1'), { id: '1', site: 'a.example', sector: 'Retail', staff: 12 })
  assert.deepEqual(await run.record('2'), { id: '2', site: 'b.example', sector: 'Energy', staff: null })
  assert.deepEqual(await run.counts('sector'), { fresh: 4, missing: 2 })
  const entry = (await run.entry('1', 'staff')) ?? {}
  assert.deepEqual([entry['source'], entry['derivation'], entry['value']], ['import', 'company.yaml', 12])
  assert.deepEqual(evidenceOf(entry), {
    table: 'refs/companies.csv',
    row: { sector: 'Retail', staff: 12 },
  })
  assert.equal((await listRuns(run.sheet, { limit: 1, cursor: null })).runs[0]?.calls, 0)
  assert.deepEqual(await usedResources(run.sheet), [
    { type: 'file', name: 'refs/companies.csv', refusal: null },
  ])
})

test('D32: an edited row makes the cells stale that match it, and says why', async (t) => {
  const run = await openLookUp(t)
  await run.run()
  await run.edit('refs/companies.csv', `${COMPANIES.replace('Retail,12', 'Retail,13')}z.example,Mining,1\n`)
  assert.deepEqual(await run.counts('staff'), { fresh: 2, stale: 2, missing: 2 })
  assert.deepEqual((await explainCell(run.sheet, 'staff', '1')).reasons, [
    {
      part: 'member',
      name: 'row',
      was: { sector: 'Retail', staff: 12 },
      is: { sector: 'Retail', staff: 13 },
    },
  ])
  assert.equal((await run.run()).materialized, 6)
  assert.deepEqual([await run.value('4', 'staff'), await run.value('5', 'sector')], [13, 'Mining'])
})

test('a key that no row has is skipped, null or a failure, as the file says; two rows with a key fail', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookUp(t, {
    file: { when_missing: 'null' },
    table: `${COMPANIES}c.example,Other,1\n`,
  })
  const { materialized, failures } = await run.run()
  assert.equal(materialized, 8)
  assert.deepEqual(
    failures.map(({ recordId, field, error }) => [recordId, field, error]),
    ['sector', 'staff'].map((field) => [
      '3',
      field,
      'refs/companies.csv, domain "c.example" -> 2 rows have this key; keep one',
    ]),
  )
  assert.deepEqual(await run.record('5'), { id: '5', site: 'z.example', sector: null, staff: null })
  await run.edit('derivations/company.yaml', JSON.stringify({ ...LOOK_UP, when_missing: 'fail' }))
  const again = await run.run()
  assert.deepEqual(
    again.failures.filter(({ recordId }) => recordId === '5').map(({ error }) => error),
    Array.from({ length: 2 }, () => 'refs/companies.csv, domain "z.example" -> no row has this key'),
  )
})

test('a table that is missing or broken fails the cells of its derivation with the reason', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookUp(t, { table: null })
  const errorOf = async (): Promise<string | undefined> => {
    const { failures } = await run.run()
    return failures[0]?.error.replace(/^.* -> /, '')
  }
  assert.equal(await errorOf(), 'refs/companies.csv does not exist')
  await run.edit('refs/companies.csv', 'domain,sector\na.example,Retail\n')
  assert.match((await errorOf()) ?? '', /refs\/companies\.csv has no column "branch"; it has/)
  await run.edit('refs/companies.csv', 'domain,branch,employees\n"a')
  assert.match((await errorOf()) ?? '', /^refs\/companies\.csv:2, character 1: /)
  await run.edit('refs/companies.csv', COMPANIES)
  assert.equal(await errorOf(), undefined)
})

test('validation reports a table that cannot be read with file and line', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookUp(t, { table: null })
  const faults = async (): Promise<readonly SheetFault[]> => {
    const found: SheetFault[] = []
    for await (const fault of validateSheet(run.directory, { records: true })) found.push(fault)
    return found
  }
  const fault = (message: string): SheetFault => ({
    file: 'derivations/company.yaml',
    line: 7,
    message: `${message}; until it is fixed, the cells of this derivation fail`,
  })
  assert.deepEqual(await faults(), [fault('refs/companies.csv does not exist')])
  await run.edit('refs/companies.csv', 'domain,branch\n')
  assert.deepEqual(await faults(), [
    fault('refs/companies.csv has no column "employees"; it has "domain", "branch"'),
  ])
  await run.edit('refs/companies.csv', COMPANIES)
  assert.deepEqual(await faults(), [])
})

test('D32: a failed cell that is skipped now is what it was before the failure', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookUp(t)
  await run.run()
  await run.edit('refs/companies.csv', null)
  await run.run()
  assert.deepEqual(await run.counts('staff'), { failed: 5, missing: 1 })
  await run.edit('refs/companies.csv', COMPANIES.replace('c.example', 'd.example'))
  assert.deepEqual(await run.counts('staff'), { failed: 3, stale: 1, missing: 2 })
  assert.deepEqual(await run.value('3', 'staff'), 7)
  assert.equal((await explainCell(run.sheet, 'staff', '3')).failure, null)
  // Where a written input is the reason, the next run finds out.
  await run.write({ id: '2', site: 'nowhere.example' })
  assert.deepEqual(await run.counts('staff'), { failed: 3, stale: 1, missing: 2 })
  const { materialized, failures, skipped } = await run.run()
  assert.deepEqual([materialized, failures.length, skipped], [0, 0, 12])
  assert.deepEqual(await run.counts('staff'), { fresh: 2, stale: 2, missing: 2 })
})

test('keys are compared as values of the type of the field, in every format', async (t) => {
  if (skipOnPostgres(t)) return
  const rows = [
    { id: 'x', code: 7, label: 'seven', when: '2026-01-02' },
    { id: 'y', code: 12, label: 'twelve', when: null },
  ]
  const others = await openRunSheet(t, {
    properties: ['code: integer', 'label: string', 'when: date'],
    records: rows,
    derivations: () => ({}),
  })
  const exported = async (format: 'parquet' | 'xlsx'): Promise<Buffer> => {
    const query = { format, fields: null, filter: null, sort: null, raw: false }
    return allBytes((await exportRecords(others.sheet, query)).bytes)
  }
  const tables: Readonly<Record<string, string | Uint8Array>> = {
    'refs/a.csv': 'code,label,when\n007,seven,2026-01-02\n12,twelve,\n',
    'refs/a.tsv': 'code\tlabel\twhen\n7\tseven\t2026-01-02\n12\ttwelve\t\n',
    'refs/a.json': JSON.stringify(rows),
    'refs/a.jsonl': rows.map((row) => JSON.stringify(row)).join('\n'),
    'refs/a.parquet': await exported('parquet'),
    'refs/a.xlsx': await exported('xlsx'),
  }
  for (const [path, table] of Object.entries(tables)) {
    const run = await openLookUp(t, {
      path,
      table,
      file: {
        targets: ['label', 'day'],
        match: 'code',
        key_field: 'code',
        value_fields: { label: 'label', day: 'when' },
      },
      properties: ['code: integer', 'label: string', 'day: date'],
      records: [7, 12, 13].map((code) => ({ id: `n${code}`, code })),
    })
    assert.equal((await run.run()).materialized, 4, path)
    assert.deepEqual(await run.record('n7'), { id: 'n7', code: 7, label: 'seven', day: '2026-01-02' }, path)
    assert.deepEqual(await run.record('n12'), { id: 'n12', code: 12, label: 'twelve', day: null }, path)
  }
})

test('a file of folio, without inputs and with materialization, looks up by id', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookUp(t, {
    file: {
      targets: ['sector'],
      key_field: 'id',
      match: null,
      value_fields: null,
      value_field: 'branch',
      materialization: { trigger: 'on_demand', respect_human_override: true },
    },
    table: 'id,branch\n1,Retail\n3,Energy\n',
  })
  assert.equal((await run.run()).materialized, 2)
  assert.equal(await run.value('3', 'sector'), 'Energy')
})

test('on PostgreSQL a look-up in another sheet fails its cells, since the sheet has none beside it', async (t) => {
  const run = await openLookUp(t, {
    file: { kind: 'cross_sheet', source: null, source_sheet: '../none-of-this-name' },
  })
  const { failures } = await run.run()
  assert.equal(failures.length, 10)
  const why = perEngine({
    sqlite: '../none-of-this-name does not exist',
    postgres:
      '../none-of-this-name cannot be read: a sheet in PostgreSQL has no sheets beside it; put a table of their records into this sheet, and use kind import',
  })
  assert.ok(
    failures.every(({ error }) => error.endsWith(` -> ${why}`)),
    failures[0]?.error,
  )
})
