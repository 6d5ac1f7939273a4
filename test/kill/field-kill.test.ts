import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { parseContract } from '../../src/contract/odcs/parse-contract.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { PATIENT_LIMITS } from '../../src/store/suite/support/patient-limits.ts'
import { contractText } from '../support/contract-with.ts'
import type { FieldProcessOrder } from './field-process.ts'

const PROGRAM = join(import.meta.dirname, 'field-process.ts')

/** The steps between two kills: all steps in long tests. */
const STRIDE = process.env['COLOPHON_KILLS'] === undefined ? 13 : 1

const BEFORE = contractText([
  '{name: a, logicalType: string}',
  '{name: b, logicalType: string, unique: true}',
  '{name: c, logicalType: string, x-indexed: true}',
  '{name: gone, logicalType: timestamp}',
])
const AFTER = contractText([
  '{name: b, logicalType: string}',
  '{name: a, logicalType: string, unique: true}',
  '{name: c, logicalType: integer, x-indexed: true}',
  '{name: more, logicalType: boolean}',
])
const AT = '2024-01-01T00:00:00+02:00'
const NUMBERS = Array.from({ length: 300 }, (_, index) => index)
const OLD = NUMBERS.map((n) => ({ id: `r${n}`, a: `a${n}`, b: `b${n}`, c: `${n}`, gone: AT }))
const NEW = NUMBERS.map((n) => ({ id: `r${n}`, b: `a${n}`, a: `b${n}`, c: n, more: null }))

function changeFields(
  directory: string,
  killAt: number,
): { readonly wasKilled: boolean; readonly steps: number } {
  const order: FieldProcessOrder = {
    directory,
    before: BEFORE,
    after: AFTER,
    renamed: [
      ['a', 'b'],
      ['b', 'a'],
    ],
    removed: [['gone', NUMBERS.length]],
    converted: ['c'],
    killAt,
  }
  const { signal, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, JSON.stringify(order)], {
    encoding: 'utf8',
  })
  assert.ok(signal === 'SIGKILL' || stdout !== '', stderr)
  return { wasKilled: signal === 'SIGKILL', steps: Number(stdout) }
}

/** Returns whether the store has the new fields; it has all of the old or all of the new state. */
async function checkStore(directory: string): Promise<boolean> {
  const db = new DatabaseSync(join(directory, 'sheet.db'), { readOnly: true })
  const text = String(db.prepare('SELECT contract FROM "$sheet"').get()?.['contract'])
  db.close()
  assert.ok(text === BEFORE || text === AFTER)
  const isNew = text === AFTER
  const contract = parseContract(text)
  const store = await SqliteStore.open(directory, {
    definition: { contract, targets: [] },
    actor: 'human:ann',
    lockTimeoutMs: 5000,
    queryLimits: PATIENT_LIMITS,
    onSourceDiffers: () => undefined,
  })
  try {
    const fields = contract.fields.map(({ name }) => name)
    const { records } = await store.page({
      fields,
      limit: 1000,
      after: null,
      filter: null,
      sort: [],
      skip: 0,
    })
    assert.deepEqual(JSON.parse(String(records)), isNew ? NEW : OLD)
    const past = await store.pageAsOf({
      fields: isNew ? ['id', 'a', 'c'] : fields,
      limit: 1000,
      after: null,
      seq: 1,
    })
    const before = OLD.map(({ id, b, c }) => ({ id, a: b, c }))
    assert.deepEqual(JSON.parse(String(past.records)), isNew ? before : OLD)
    assert.equal((await store.history()).last, isNew ? 2 : 1)
  } finally {
    await store.close()
  }
  const lines = readFileSync(join(directory, 'provenance.jsonl'), 'utf8').trimEnd().split('\n')
  const sources = lines.map((line) => (JSON.parse(line) as JsonObject)['source'])
  assert.deepEqual(sources, isNew ? ['import', 'contract'] : ['import'])
  return isNew
}

test('a process that is killed while it changes fields leaves all of the old state or all of the new one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'colophon-fields-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [origin, whole] = [join(folder, 'origin'), join(folder, 'whole')]
  mkdirSync(origin)
  writeFileSync(join(origin, 'records.jsonl'), OLD.map((record) => `${JSON.stringify(record)}\n`).join(''))
  cpSync(origin, whole, { recursive: true })
  const { wasKilled, steps } = changeFields(whole, 0)
  assert.ok(!wasKilled && steps > 40, `${steps} steps`)
  assert.equal(await checkStore(whole), true)
  const outcomes = new Set<boolean>()
  for (let killAt = 1; killAt <= steps; killAt += STRIDE) {
    const directory = join(folder, `killed-${killAt}`)
    cpSync(origin, directory, { recursive: true })
    assert.ok(changeFields(directory, killAt).wasKilled)
    outcomes.add(await checkStore(directory))
    rmSync(directory, { recursive: true })
  }
  // The last step is after the commit.
  const last = join(folder, 'last')
  cpSync(origin, last, { recursive: true })
  changeFields(last, steps)
  assert.equal(await checkStore(last), true)
  assert.ok(outcomes.has(false))
})
