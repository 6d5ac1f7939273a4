import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, suite, test } from 'node:test'
import { QueryRunner } from './query-run.ts'

suite('dates in a query of a derivation', () => {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-query-'))
  const path = join(directory, 'records.db')

  before(() => {
    const database = new DatabaseSync(path)
    database.exec(
      `CREATE TABLE "$data" ("$seq" INTEGER PRIMARY KEY, at TEXT);
       INSERT INTO "$data" (at) VALUES ('2024-01-01 00:00:00.5'), ('subsec')`,
    )
    database.close()
  })

  after(() => {
    rmSync(directory, { recursive: true })
  })

  function run(result: string): unknown {
    const texts: string[] = []
    const query = {
      statement: `SELECT ${result} FROM records`,
      listed: [],
      inputs: [],
      reads: [{ name: 'at', type: 'string' }],
      targets: [{ name: 'value', type: 'string' }],
    } as const
    const writer = { text: (text: string) => texts.push(text) } as never
    new QueryRunner(path).run({ kind: 'records-query', query, version: '1', rows: [[]] }, writer)
    return (JSON.parse(texts.join('')) as readonly unknown[])[0]
  }

  for (const result of [
    "max(unixepoch('subsec'))",
    "max(strftime('%s', 'SubSecond'))",
    "max(timediff('2024-01-01', 'subsec'))",
    'unixepoch(max(at))',
    "max(date(x'6e6f77'))",
    "max(date('no' || 'w' || char(0)))",
    "max(datetime('2024-01-01', 'local' || 'time'))",
  ]) {
    test(`SQLite: ${result} is refused, since it depends on the present time or the machine`, () => {
      assert.match(JSON.stringify(run(result)), /"error":"\w+\(\) of this value cannot be used/)
    })
  }

  test('SQLite: dates of other values are computed as they are elsewhere', () => {
    assert.deepEqual(run("unixepoch(min(at), 'subsec')"), { row: { value: 1_704_067_200.5 } })
    assert.deepEqual(run("max(date(x'323032342d30312d3032', '+1 day'))"), { row: { value: '2024-01-03' } })
    assert.deepEqual(run("typeof(max(unixepoch('2024-01-01')))"), { row: { value: 'integer' } })
    assert.deepEqual(run('max(date(NULL))'), { row: { value: null } })
  })
})
