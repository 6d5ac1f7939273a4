import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { evidenceOf } from '../../src/derivation/definition/evidence.ts'
import { usedResources } from '../../src/sheet/calls/used-resources.ts'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { initSheet } from '../../src/sheet/lifecycle/init-sheet.ts'
import { validateSheet } from '../../src/sheet/lifecycle/validate-sheet.ts'
import { readSheetTable } from '../../src/sheet/definition/read-sheet-table.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { exportArchive } from '../../src/sheet/transfer/export-archive.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { contractText } from '../support/contract-with.ts'
import { allBytes } from '../support/init-files.ts'
import { onEnd } from '../support/on-end.ts'
import { openRunSheet, RunSheet } from '../support/run-fixture.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const CUSTOMERS = [
  { id: '7', name: 'Acme', revenue: 1200, tags: ['a'], note: 'x' },
  { id: '8', name: 'Borealis', revenue: null, tags: null, note: 'y' },
  { id: '9', name: 'Castor', revenue: 70, tags: [], note: 'z' },
]

/** Writes the sheet that is looked into; `id` of its records is text, `customer` of the orders an integer. */
function writeCustomers(t: TestContext, records: readonly JsonObject[] = CUSTOMERS): Promise<string> {
  return writeSheet(t, {
    contract: contractText([
      '{name: name, logicalType: string}',
      '{name: revenue, logicalType: integer}',
      '{name: tags, logicalType: array}',
      '{name: note, logicalType: string}',
    ]),
    records,
    derivations: {},
  })
}

/** Opens a sheet of orders, beside a sheet of customers that it looks into. */
async function openOrders(t: TestContext, customers: string, file: JsonObject = {}): Promise<RunSheet> {
  return openRunSheet(t, {
    properties: ['customer: integer', 'company: string', 'revenue: integer'],
    records: [7, 8, 9, 7, 1, null].map((customer, index) => ({ id: `${index + 1}`, customer })),
    derivations: () => ({
      'customer.yaml': {
        targets: ['company', 'revenue'],
        kind: 'cross_sheet',
        source_sheet: `../${basename(customers)}`,
        key_field: 'id',
        match: 'customer',
        value_fields: { company: 'name', revenue: 'revenue' },
        ...file,
      },
    }),
  })
}

async function openOther(t: TestContext, directory: string): Promise<Sheet> {
  const sheet = await openSheet(directory)
  onEnd(t, () => sheet.close())
  return sheet
}

async function errorsOf(run: RunSheet): Promise<readonly string[]> {
  const { failures } = await run.run()
  return [...new Set(failures.map(({ error }) => error.replace(/^.* -> /, '')))]
}

async function stateOf(directory: string): Promise<readonly string[]> {
  const names = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  )
  const texts = names.map(async ({ parentPath, name }) => {
    const bytes = await readFile(join(parentPath, name))
    return `${name} ${createHash('sha256').update(bytes).digest('hex')}`
  })
  return (await Promise.all(texts)).toSorted()
}

test('a look-up in another sheet fills targets from the record with the key, also while a server has it open', async (t) => {
  const customers = await writeCustomers(t)
  const other = await openOther(t, customers)
  const run = await openOrders(t, customers)
  const path = `../${basename(customers)}`
  const plan = await planMaterialize(run.sheet, { targets: null, recordIds: null, force: false })
  assert.deepEqual([plan.calls, plan.cost, plan.targets['company']?.compute], [0, 0, 4])
  const { materialized, skipped, failures } = await run.run({ maxCalls: 0 })
  assert.deepEqual([materialized, skipped, failures.length], [8, 4, 0])
  assert.deepEqual(await run.record('1'), { id: '1', customer: 7, company: 'Acme', revenue: 1200 })
  assert.deepEqual(await run.record('2'), { id: '2', customer: 8, company: 'Borealis', revenue: null })
  const entry = (await run.entry('1', 'revenue')) ?? {}
  assert.equal(entry['source'], 'cross_sheet')
  assert.deepEqual(evidenceOf(entry), { sheet: path, row: { company: 'Acme', revenue: 1200 } })
  assert.deepEqual(await usedResources(run.sheet), [{ type: 'sheet', name: path, refusal: null }])

  // An edit there makes stale what matches it, and nothing else.
  await upsertRecords(other, {
    records: [
      { id: '7', revenue: 1300 },
      { id: '9', note: 'other' },
    ],
    actor: 'user:ann',
  })
  assert.deepEqual(await run.counts('revenue'), { fresh: 2, stale: 2, missing: 2 })
  assert.deepEqual((await explainCell(run.sheet, 'revenue', '4')).reasons, [
    {
      part: 'member',
      name: 'row',
      was: { company: 'Acme', revenue: 1200 },
      is: { company: 'Acme', revenue: 1300 },
    },
  ])
  await upsertRecords(other, { records: [{ id: '1', name: 'New' }], actor: 'user:ann' })
  assert.equal((await run.run()).materialized, 6)
  assert.deepEqual([await run.value('4', 'revenue'), await run.value('5', 'company')], [1300, 'New'])
})

test('an edit of another sheet is noticed after a restart, and archives do not have it', async (t) => {
  const customers = await writeCustomers(t)
  const other = await openOther(t, customers)
  const run = await openOrders(t, customers)
  await run.run()
  const archive = join(dirname(run.directory), `${basename(run.directory)}.zip`)
  onEnd(t, () => rm(archive))
  await writeFile(archive, await allBytes(exportArchive(run.sheet)))
  await run.sheet.close()
  await upsertRecords(other, { records: [{ id: '8', revenue: 5 }], actor: 'user:ann' })
  const sheet = await openOther(t, run.directory)
  const again = await RunSheet.of({ sheet, api: run.api, directory: run.directory })
  assert.deepEqual(await again.counts('revenue'), { fresh: 3, stale: 1, missing: 2 })

  // Unpacked elsewhere, the sheet has values, and failures that say what it lacks.
  const unpacked = join(dirname(run.directory), `${basename(run.directory)}-unpacked`, 'orders')
  onEnd(t, () => rm(dirname(unpacked), { recursive: true, force: true }))
  await mkdir(dirname(unpacked))
  await initSheet(unpacked, { kind: 'archive', file: { path: archive, name: 'a.zip' }, maxBytes: 1e6 })
  const copy = await openOther(t, unpacked)
  const copied = await RunSheet.of({ sheet: copy, api: run.api, directory: unpacked })
  assert.deepEqual(await copied.counts('revenue'), { stale: 4, missing: 2 })
  assert.deepEqual(await errorsOf(copied), [`../${basename(customers)} does not exist`])
  assert.equal(await copied.value('1', 'revenue'), 1200)
})

test('a sheet without a store, such as one of folio, is looked into by its records.jsonl', async (t) => {
  const customers = await writeCustomers(t)
  const before = await stateOf(customers)
  const run = await openOrders(t, customers, { when_missing: 'null' })
  assert.equal((await run.run()).materialized, 10)
  await writeFile(
    join(customers, 'records.jsonl'),
    '{"id": 7, "name": "Other", "revenue": 1200}\n{"id": "9", "name": "Castor", "revenue": 70}\n',
  )
  assert.deepEqual(await run.counts('company'), { fresh: 2, stale: 3, missing: 1 })
  assert.equal((await run.run()).materialized, 6)
  assert.deepEqual([await run.value('1', 'company'), await run.value('2', 'company')], ['Other', null])
  await writeFile(join(customers, 'records.jsonl'), '{"id": 7')
  assert.match((await errorsOf(run))[0] ?? '', /^\.\.\/[^/]+\/records\.jsonl:1: /)
  assert.equal((await stateOf(customers)).length, before.length)
})

test('reading another sheet creates and changes nothing in it', async (t) => {
  const customers = await writeCustomers(t)
  await (await openSheet(customers)).close()
  const before = await stateOf(customers)
  const run = await openOrders(t, customers)
  assert.equal((await run.run()).materialized, 8)
  assert.deepEqual(await stateOf(customers), before)

  // Nor in what a killed server has left behind, of which the last write is in the write-ahead log.
  const other = await openOther(t, customers)
  await upsertRecords(other, { records: [{ id: '7', revenue: 1 }], actor: 'user:ann' })
  const left = await writeCustomers(t)
  await cp(customers, left, { recursive: true })
  const killed = await stateOf(left)
  assert.ok(killed.some((line) => line.startsWith('sheet.db-wal ')))
  await run.edit('derivations/customer.yaml', (text) => text.replace(basename(customers), basename(left)))
  await run.run()
  assert.equal(await run.value('1', 'revenue'), 1)
  // The index of the log is not part of the store: whoever reads writes it anew.
  const withoutIndex = (lines: readonly string[]): readonly string[] =>
    lines.filter((line) => !line.startsWith('sheet.db-shm '))
  assert.deepEqual(withoutIndex(await stateOf(left)), withoutIndex(killed))
})

test('a copy that was put back is noticed, though its log has as many entries', async (t) => {
  const customers = await writeCustomers(t)
  await (await openSheet(customers)).close()
  const copy = await writeCustomers(t)
  await cp(customers, copy, { recursive: true })
  for (const [directory, revenue] of [
    [customers, 1],
    [copy, 2],
  ] as const) {
    const sheet = await openSheet(directory)
    await upsertRecords(sheet, { records: [{ id: '7', revenue }], actor: 'user:ann' })
    await sheet.close()
  }
  const run = await openOrders(t, customers)
  await run.run()
  assert.equal(await run.value('1', 'revenue'), 1)
  await rename(join(copy, 'sheet.db'), join(customers, 'sheet.db'))
  assert.deepEqual(await run.counts('revenue'), { fresh: 2, stale: 2, missing: 2 })
  await run.run()
  assert.equal(await run.value('1', 'revenue'), 2)
})

test('cells stay as they are while another sheet is locked', async (t) => {
  const live = await writeCustomers(t)
  const other = await openOther(t, live)
  await upsertRecords(other, { records: [{ id: '7', revenue: 1 }], actor: 'user:ann' })
  // The files that a killed server leaves, which no process has open.
  const customers = await writeCustomers(t)
  await cp(live, customers, { recursive: true })
  const run = await openOrders(t, customers)
  await run.run()
  const before = await run.counts('revenue')
  assert.equal(before['stale'], undefined)
  const store = join(customers, 'sheet.db')
  const holder = new DatabaseSync(store)
  try {
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; SELECT * FROM "$sheet"')
    await utimes(store, new Date(), new Date())
    assert.deepEqual(await run.counts('revenue'), before)
  } finally {
    holder.close()
  }
  const again = await openOther(t, customers)
  await upsertRecords(again, { records: [{ id: '7', revenue: 2 }], actor: 'user:ann' })
  assert.equal((await run.counts('revenue'))['stale'], 2)
})

test('long values of another sheet are not in memory together', async (t) => {
  const customers = await writeCustomers(
    t,
    Array.from({ length: 5 }, (_, index) => ({ id: `${index}`, name: 'x'.repeat(3 << 20) })),
  )
  await (await openSheet(customers)).close()
  const sheet = { directory: customers, file: 'sheet.db', retry: () => undefined } as const
  const lengths: number[] = []
  const table = await readSheetTable(
    { path: '../customers', sheet, columns: ['id', 'name'] },
    async (file) => {
      for await (const batch of file.batches) lengths.push(batch.length)
      return new Map()
    },
  )
  assert.ok(table.ok)
  assert.deepEqual(lengths, [2, 2, 1])
})

test('a sheet that is missing, no sheet, or out of reach fails the cells of its derivation, and no others', async (t) => {
  const customers = await writeCustomers(t)
  const path = `../${basename(customers)}`
  const run = await openOrders(t, customers)
  const away = `${customers}-away`
  await rename(customers, away)
  onEnd(t, () => rm(away, { recursive: true, force: true }))
  onEnd(t, () => rm(customers, { recursive: true, force: true }))
  assert.deepEqual(await errorsOf(run), [`${path} does not exist`])
  const faults: string[] = []
  for await (const { file, line, message } of validateSheet(run.directory, { records: false })) {
    faults.push(`${file}:${line}: ${message}`)
  }
  assert.deepEqual(faults, [
    `derivations/customer.yaml:7: ${path} does not exist; until it is fixed, the cells of this derivation fail`,
  ])
  await symlink('/usr', customers)
  assert.deepEqual(await errorsOf(run), [
    `${path} cannot be read: it leads out of the directory that this sheet is in, by a symbolic link; put the sheet itself there`,
  ])
  await rm(customers)
  await symlink(run.directory, customers)
  assert.deepEqual(await errorsOf(run), [`${path} cannot be read: it is this sheet itself; name another one`])
  await rm(customers)
  await mkdir(customers)
  assert.deepEqual(await errorsOf(run), [
    `${path} cannot be read: it has no contract.yaml, so it is no sheet`,
  ])
  await writeFile(join(customers, 'contract.yaml'), contractText([]))
  assert.deepEqual(await errorsOf(run), [
    `${path} cannot be read: it has neither sheet.db nor records.jsonl; sheets in PostgreSQL cannot be read`,
  ])
  await symlink('/etc/passwd', join(customers, 'records.jsonl'))
  assert.match((await errorsOf(run))[0] ?? '', /records\.jsonl is a symbolic link out of the sheet/)
  await rm(customers, { recursive: true })
  // A link within the parent directory leads to a sheet that could be named as well.
  await symlink(away, customers)
  assert.deepEqual(await errorsOf(run), [])
  assert.equal(await run.value('1', 'company'), 'Acme')
})

test('a store that is damaged, manipulated or of another version fails the cells with the reason', async (t) => {
  const customers = await writeCustomers(t)
  await (await openSheet(customers)).close()
  const path = `../${basename(customers)}`
  const store = join(customers, 'sheet.db')
  const good = await readFile(store)
  const run = await openOrders(t, customers)
  const change = (sql: string): void => {
    const db = new DatabaseSync(store)
    db.exec(sql)
    db.close()
  }
  const errorOf = async (): Promise<string> => (await errorsOf(run)).join()
  change('UPDATE "$sheet" SET schema_version = 99')
  assert.equal(
    await errorOf(),
    `${path} cannot be read: sheet.db was made by a later version of Colophon; use that version`,
  )
  await writeFile(store, good)
  change(
    'DROP VIEW records; ALTER TABLE "$data" RENAME TO data; CREATE VIEW "$data" AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT * FROM data, n',
  )
  assert.match(await errorOf(), /^\S+ cannot be read: sheet\.db is not as this version of Colophon makes it/)
  await writeFile(store, 'SQLite format 3, but no more than that')
  assert.equal(await errorOf(), `${path} cannot be read: its sheet.db is not a SQLite database`)
  await writeFile(store, good.subarray(0, 8192))
  assert.match(await errorOf(), /^\S+ cannot be read: /)
  await writeFile(store, good)
  change(`UPDATE "$data" SET name = hex(zeroblob(5000000)) WHERE id = '7'`)
  assert.equal(await errorOf(), `${path} cannot be read: it has a value with more than 8 MiB`)
  await writeFile(store, good)
  await writeFile(join(customers, 'sheet.db-journal'), 'a hot journal')
  assert.match(await errorOf(), /sheet\.db-journal does not belong in a sheet/)
  await rm(join(customers, 'sheet.db-journal'))
  await writeFile(join(customers, 'sheet.db-wal'), 'left alone')
  assert.match(await errorOf(), /is in exclusive use, or was not closed/)
  await rm(join(customers, 'sheet.db-wal'))
  assert.equal(await errorOf(), '')
})
