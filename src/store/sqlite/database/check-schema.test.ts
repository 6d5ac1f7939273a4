import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { contractText } from '../../../../test/support/contract-with.ts'
import { parseContract } from '../../../contract/odcs/parse-contract.ts'
import { RecordsError } from '../../../errors/service-error.ts'
import { checkSchema } from './check-schema.ts'
import { asRecordsError } from './connection.ts'
import { createStore, storePaths } from '../definition/create-store.ts'
import { applyContract } from '../definition/apply-contract.ts'
import { openDatabase } from './open-database.ts'
import { SCHEMA_VERSION } from './schema.ts'

const PROPERTIES = ['{name: a, logicalType: string}', '{name: b, logicalType: string, unique: true}']

/** A store with two records, closed; its path. */
function makeStore(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-schema-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const paths = storePaths(directory)
  writeFileSync(paths.source, '{"id":"1","a":"x","b":"y"}\n{"id":"2"}\n')
  createStore(paths, {
    contract: parseContract(contractText(PROPERTIES)),
    targets: [],
    actor: 'system:import',
  })
  return paths.database
}

function edit(path: string, ...statements: readonly string[]): void {
  const db = new DatabaseSync(path, { defensive: false })
  for (const statement of statements) db.exec(statement)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

/** Asserts that a file is refused and unchanged. */
async function assertRefused(path: string, message: RegExp, what: string): Promise<void> {
  const before = readFileSync(path)
  await assert.rejects(
    openDatabase(path, { deadline: performance.now(), what: 'the store' }),
    (error) => {
      const told = asRecordsError(error)
      assert.ok(told instanceof RecordsError, `${what}: ${String(error)}`)
      assert.match(told.message, message, what)
      return true
    },
    what,
  )
  assert.ok(readFileSync(path).equals(before), what)
}

/** Manipulations of the schema, and the name in the message. */
const PLANTED: Readonly<Record<string, readonly [statements: readonly string[], named: string]>> = {
  'a trigger that deletes': [
    ['CREATE TRIGGER t AFTER UPDATE ON "$sheet" BEGIN DELETE FROM "$data"; END'],
    'trigger t on $sheet',
  ],
  'a trigger on records': [
    ['CREATE TRIGGER "$t" BEFORE INSERT ON "$data" BEGIN DELETE FROM "$provenance"; END'],
    'trigger $t on $data',
  ],
  'a trigger on the view': [
    [`CREATE TRIGGER t INSTEAD OF INSERT ON records BEGIN SELECT load_extension('x'); END`],
    'trigger t on records',
  ],
  'another view': [
    [
      'DROP VIEW records',
      `CREATE VIEW records AS SELECT id, a, printf('%.*c', 900000000, 'x') AS b FROM "$data"`,
    ],
    'view records on records',
  ],
  'a view of what is no record': [
    ['DROP VIEW records', 'CREATE VIEW records AS SELECT contract AS id, a, b FROM "$sheet", "$data"'],
    'view records on records',
  ],
  'a view in the place of a table': [
    ['DROP TABLE "$import"', 'CREATE VIEW "$import" AS SELECT 1 AS seq, 1 AS first, 1 AS last'],
    'view $import on $import',
  ],
  'a computed column': [
    [`ALTER TABLE "$data" ADD COLUMN c TEXT AS (hex(zeroblob(9)))`],
    'table $data on $data',
  ],
  'a computed column of the sheet': [
    [`ALTER TABLE "$sheet" ADD COLUMN c TEXT AS (hex(zeroblob(9)))`],
    'table $sheet on $sheet',
  ],
  'a default': [
    [
      'PRAGMA writable_schema = ON',
      `UPDATE sqlite_schema SET sql = replace(sql, '"a" TEXT', '"a" TEXT DEFAULT (hex(randomblob(10)))') WHERE name = '$data'`,
    ],
    'table $data on $data',
  ],
  'an index of an expression': [
    [`CREATE INDEX "$unique_a" ON "$data" (printf('%s', a))`],
    'index $unique_a on $data',
  ],
  'an index less': [['DROP INDEX "$unique_b"'], 'index $unique_b on $data'],
  'another table': [['CREATE TABLE other (a)'], 'table other on other'],
  'a table less': [['DROP TABLE "$cache"'], 'table $cache on $cache'],
  'a virtual table': [['CREATE VIRTUAL TABLE v USING fts5(a)'], 'table v on v'],
  'statistics that are others': [
    [
      'ANALYZE',
      'PRAGMA writable_schema = ON',
      `UPDATE sqlite_schema SET sql = 'CREATE TABLE sqlite_stat1(tbl,idx,stat CHECK (stat <> 1))' WHERE name = 'sqlite_stat1'`,
    ],
    'table sqlite_stat1 on sqlite_stat1',
  ],
  'a collation of its own': [
    [
      'PRAGMA writable_schema = ON',
      `UPDATE sqlite_schema SET sql = replace(sql, '"a" TEXT', '"a" TEXT COLLATE own') WHERE name = '$data'`,
    ],
    'table $data on $data',
  ],
  'a check': [
    [
      'PRAGMA writable_schema = ON',
      `UPDATE sqlite_schema SET sql = replace(sql, '"a" TEXT', '"a" TEXT CHECK (a <> 1)') WHERE name = '$data'`,
    ],
    'table $data on $data',
  ],
  'a table that is another': [
    [
      'PRAGMA writable_schema = ON',
      `UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = '$data') WHERE name = '$import'`,
    ],
    'the schema',
  ],
  'a table that is there twice': [
    [
      'PRAGMA writable_schema = ON',
      `INSERT INTO sqlite_schema SELECT type, name, tbl_name, 999, sql FROM sqlite_schema WHERE name = '$import'`,
    ],
    'the schema',
  ],
}

test('a store with unexpected objects in its schema is refused, and none of them is run', async (t) => {
  for (const [what, [statements, named]] of Object.entries(PLANTED)) {
    const path = makeStore(t)
    edit(path, ...statements)
    const shown = JSON.stringify(named).replaceAll(/[$()\\]/g, String.raw`\$&`)
    const message = new RegExp(
      `not as this version of Colophon makes it \\(${shown}\\)|sheet\\.db is damaged`,
    )
    await assertRefused(path, message, what)
  }
})

test('a file that is not a store is refused, and is unchanged', async (t) => {
  const path = makeStore(t)
  const cases: [what: string, make: () => void, message: RegExp][] = [
    [
      'a text',
      () => writeFileSync(path, 'not a database, but long enough for a header'.repeat(50)),
      /not a SQLite/,
    ],
    ['nothing', () => writeFileSync(path, ''), /not the store of a sheet/],
    ['NUL', () => writeFileSync(path, Buffer.alloc(1 << 20)), /SQLite|not the store|damaged/],
  ]
  for (const [what, make, message] of cases) {
    make()
    await assertRefused(path, message, what)
  }
  rmSync(path)
  edit(path, 'CREATE TABLE places (url TEXT)', 'CREATE TABLE "$data" (a)')
  await assertRefused(path, /sheet\.db is not the store of a sheet/, 'the database of another program')
  edit(path, 'CREATE TABLE "$sheet" (schema_version, contract)')
  await assertRefused(path, /table \$sheet on \$sheet/, 'a table called $sheet')
})

test('a store with invalid metadata is refused', async (t) => {
  const cases: [statement: string, message: RegExp][] = [
    ['UPDATE "$sheet" SET schema_version = 0', /schema_version/],
    ['UPDATE "$sheet" SET schema_version = -1', /schema_version/],
    [`UPDATE "$sheet" SET schema_version = ${SCHEMA_VERSION + 1}`, /later version/],
    ['UPDATE "$sheet" SET schema_version = 1', /not as this version/],
    ['DELETE FROM "$sheet"', /schema_version/],
    [`UPDATE "$sheet" SET contract = 'a: &a [*a]'`, /holds a contract that cannot be read/],
    [`UPDATE "$sheet" SET contract = '${contractText(['{name: c, logicalType: string}'])}'`, /\$data/],
    ['UPDATE "$sheet" SET contract = zeroblob(100) || char(0)', /contract that cannot be read/],
  ]
  for (const [statement, message] of cases) {
    const path = makeStore(t)
    edit(path, statement)
    await assertRefused(path, message, statement)
  }
})

/** Contracts that earlier versions took, and that are past limits which came later. */
const ONCE_TAKEN: Readonly<Record<string, () => string>> = {
  'a closed list of 30,000': () => {
    const values = Array.from({ length: 30_000 }, (_, n) => `            - value ${n}\n`).join('')
    const quality = 'quality:\n        - metric: invalidValues\n          mustBe: 0\n          arguments:\n'
    const open = `name: c\n        logicalType: string\n        ${quality}            validValues:\n`
    return contractText([...PROPERTIES, open]).trimEnd() + `\n${values.replaceAll(/^/gm, '  ').trimEnd()}\n`
  },
  '3 MiB': () => `# ${'x'.repeat(3 << 20)}\n${contractText(PROPERTIES)}`,
  '60,000 lines': () => '\n'.repeat(60_000) + contractText(PROPERTIES),
  'a large pattern': () =>
    contractText([
      ...PROPERTIES,
      "{name: c, logicalType: string, logicalTypeOptions: {pattern: '(a{100}){100}'}}",
    ]),
  'a long pattern of actors': () =>
    contractText([...PROPERTIES, `{name: c, logicalType: string, x-editable-by: ['${'a'.repeat(600)}']}`]),
  'a control character': () => contractText(PROPERTIES) + 'description: {purpose: "a \u0007"}\n',
}

test('a store is opened whose contract exceeds limits of a later version, and accepts a smaller contract', async (t) => {
  for (const [what, text] of Object.entries(ONCE_TAKEN)) {
    assert.throws(() => parseContract(text()), /contract\.yaml/, what)
    const path = makeStore(t)
    const other = new DatabaseSync(path)
    other.prepare('UPDATE "$sheet" SET contract = ?').run(text())
    if (/name: c/.test(text())) other.exec('DROP VIEW records; ALTER TABLE "$data" ADD COLUMN "c" TEXT')
    if (/name: c/.test(text())) other.exec('CREATE VIEW records AS SELECT "id", "a", "b", "c" FROM "$data"')
    other.close()
    const { db } = await openDatabase(path, { deadline: performance.now(), what: 'the store' })
    db.exec('DELETE FROM "$data"; UPDATE "$sheet" SET records = 0; BEGIN')
    applyContract(db, { contract: parseContract(contractText(PROPERTIES)), derived: new Set(), seq: 1 })
    db.exec('COMMIT')
    db.close()
    checkSchema(path)
  }
})

test('a store with statistics of ANALYZE is opened', async (t) => {
  const path = makeStore(t)
  edit(path, 'ANALYZE')
  const { db } = await openDatabase(path, { deadline: performance.now(), what: 'the store' })
  assert.ok(Number(db.get('SELECT count(*) AS n FROM sqlite_stat1')?.['n']) > 0)
  db.close()
})

test('refusing a store loses no later write', async (t) => {
  const path = makeStore(t)
  edit(path, 'CREATE TABLE other (a)')
  await assertRefused(path, /keep the file: .*provenance\.jsonl/, 'another table')
})

test('damage is reported as damage', async (t) => {
  for (const [what, offset] of [
    ['the page size', 16],
    ['the file format', 19],
    ['the format of the schema', 47],
    ['the first page', 100],
  ] as const) {
    const path = makeStore(t)
    const bytes = readFileSync(path)
    bytes.fill(0xee, offset, offset + 1)
    writeFileSync(path, bytes)
    await assertRefused(path, /sheet\.db/, what)
  }
})

test('every store that this program creates or migrates is accepted', async (t) => {
  const path = makeStore(t)
  checkSchema(path)
  const contracts = [
    [...PROPERTIES, '{name: c, logicalType: integer, unique: true}'],
    ['{name: first, logicalType: array}', ...PROPERTIES, '{name: c, logicalType: integer}'],
    ['{name: c, logicalType: integer, unique: true}', '{name: first, logicalType: array}', ...PROPERTIES],
    ['{name: a, logicalType: string, unique: true}', '{name: b, logicalType: string}'],
  ]
  const { db } = await openDatabase(path, { deadline: performance.now(), what: 'the store' })
  for (const [index, properties] of contracts.entries()) {
    if (index === contracts.length - 1) db.exec('DELETE FROM "$data"; UPDATE "$sheet" SET records = 0')
    db.exec('BEGIN')
    applyContract(db, { contract: parseContract(contractText(properties)), derived: new Set(), seq: 1 })
    db.exec('COMMIT')
    checkSchema(path)
  }
  db.close()
  checkSchema(path)
})

test('changes of fields that this program does not write are refused', async (t) => {
  const kept = `ALTER TABLE "$data" ADD COLUMN "$kept_2_0" TEXT`
  const changes: Readonly<Record<string, unknown>> = {
    'no object': 5,
    'names that are no pairs': { renamed: [['a']], removed: [], converted: [], restored: [] },
    'an unknown type': {
      renamed: [],
      removed: [{ name: 'a', type: 'x', column: '$kept_2_0' }],
      converted: [],
      restored: [],
    },
    'a column that keeps nothing': {
      renamed: [],
      removed: [{ name: 'x', type: 'string', column: 'b' }],
      converted: [],
      restored: [],
    },
    'a column that is absent': {
      renamed: [],
      removed: [{ name: 'x', type: 'string', column: '$kept_3_0' }],
      converted: [],
      restored: [],
    },
    'a column of another type': {
      renamed: [],
      removed: [{ name: 'x', type: 'integer', column: '$kept_2_0' }],
      converted: [],
      restored: [],
    },
  }
  const insert = (change: unknown): string =>
    `INSERT INTO "$field_change" VALUES (2, '${typeof change === 'string' ? change : JSON.stringify(change)}')`
  for (const [what, change] of Object.entries({ ...changes, 'no JSON': '{' })) {
    const path = makeStore(t)
    edit(path, kept, insert(change))
    await assertRefused(path, /\$field_change/, what)
  }
  const path = makeStore(t)
  edit(
    path,
    kept,
    insert({
      renamed: [],
      removed: [{ name: 'x', type: 'string', column: '$kept_2_0' }],
      converted: [],
      restored: [],
    }),
  )
  checkSchema(path)
  edit(path, 'ALTER TABLE "$data" ADD COLUMN "$kept_2_1" TEXT AS (id)')
  await assertRefused(path, /sheet\.db/, 'a computed column')
})
