import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Client } from 'pg'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { pushSheet } from '../../src/sheet/lifecycle/push-sheet.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { readDerivations } from '../../src/sheet/schema/read-derivations.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import { contractText } from '../support/contract-with.ts'
import { startPostgres } from '../support/postgres.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import type { ChangeOrder } from './change-process.ts'
import { seededRandom } from './kill-harness.ts'

const HOOK = pathToFileURL(join(import.meta.dirname, 'kill-at-statement.ts')).href
const PROGRAM = join(import.meta.dirname, 'change-process.ts')

/** The number of random steps at which the change is killed, beside the first and the last two: all in long tests. */
const KILLS = process.env['COLOPHON_KILLS'] === undefined ? 2 : Infinity
const SEED = Number(process.env['COLOPHON_SEED'] ?? 1)

const server = await startPostgres()

const FIELDS = ['a', 'b', 'c', 'd', 'f', 'g'].map((name) => `{name: ${name}, logicalType: string}`)

function derivation(target: string, path: string): string {
  return `targets: [${target}]\ninputs: [id]\nkind: http\nurl: https://a.example/{{ id }}\nresponse_path: ${path}\n`
}

type Files = Readonly<Record<string, string>>

const BEFORE: Files = {
  'contract.yaml': contractText([
    ...FIELDS,
    '{name: gone, logicalType: array}',
    '{name: at, logicalType: timestamp, x-indexed: true}',
    '{name: until, logicalType: timestamp, unique: true}',
  ]),
  'derivations/a.yaml': derivation('a', 'old'),
  'derivations/b.yaml': derivation('b', 'old'),
  'derivations/c.yaml': derivation('c', 'old'),
  'derivations/d.yaml': derivation('d', 'old'),
}
const AFTER: Files = {
  'contract.yaml': contractText([
    ...FIELDS.map((field) => field.replace('name: d', 'name: renamed')),
    '{name: until, logicalType: timestamp, x-indexed: true}',
    '{name: at, logicalType: timestamp, unique: true}',
    '{name: e, logicalType: string}',
    '{name: more, logicalType: integer, x-indexed: true}',
  ]),
  'derivations/a.yaml': derivation('a', 'new'),
  'derivations/c.yaml': derivation('c', 'new'),
  'derivations/d.yaml': derivation('renamed', 'old'),
  'derivations/e.yaml': derivation('e', 'new'),
  'derivations/f.yaml': derivation('f', 'new'),
  'derivations/g.yaml': derivation('g', 'new'),
}
const CHANGE = { ...AFTER, 'derivations/b.yaml': null }

const [AT, UNTIL] = ['2024-01-01T00:00:00+02:00', '2024-12-31T00:00:00-05:00']
const COMMON = { id: 'r', a: null, b: null, c: null, f: null, g: null }
const OLD: JsonObject = { ...COMMON, d: null, gone: [{ bb: 1, a: 2 }], at: AT, until: UNTIL }
const NEW: JsonObject = { ...COMMON, renamed: null, until: AT, at: UNTIL, e: null, more: null }

/** Pushes a new sheet with the old definition; returns its URL. */
async function newStore(directory: string): Promise<string> {
  const url = server.freshUrl()
  await pushSheet(directory, url, { actor: 'human:ann', note: null, dryRun: false, lockTimeoutMs: 5000 })
  return url
}

/** Carries the change out in a process; whether it was killed, and its errors. */
function changeWith(
  url: string,
  settings: Readonly<Record<string, string>>,
): { readonly wasKilled: boolean; readonly stderr: string } {
  const order: ChangeOrder = {
    directory: url,
    texts: CHANGE,
    renamed: [
      ['d', 'renamed'],
      ['at', 'until'],
      ['until', 'at'],
    ],
    removed: [['gone', 1]],
  }
  const { signal, stderr } = spawnSync(process.execPath, ['--import', HOOK, PROGRAM, JSON.stringify(order)], {
    env: { ...process.env, ...settings },
    encoding: 'utf8',
  })
  return { wasKilled: signal === 'SIGKILL', stderr }
}

/** Waits until no transaction of a killed process writes: PostgreSQL may still carry out what it received. */
async function transactionsEnded(url: string): Promise<void> {
  const { connectionString, schema } = parseStoreUrl(url)
  const client = new Client({ connectionString, options: `-c search_path=${schema}` })
  await client.connect()
  await client.query('SELECT FROM "$sheet" FOR UPDATE')
  await client.end()
}

/** Opens the sheet and holds its definition, records and history to each other: all old, or all new. Whether they are new. */
async function checkStore(url: string): Promise<boolean> {
  await transactionsEnded(url)
  const sheet = await openSheet(url)
  try {
    const { store } = await sheet.current()
    const changes = await store.definitionChanges({ before: null, limit: 10 })
    const texts = (await sheet.definition()).files.texts()
    const derivations = await readDerivations(sheet)
    const isNew = changes.some(({ files }) => files.length > 0 && files.length === Object.keys(CHANGE).length)
    const expected = isNew ? AFTER : BEFORE
    assert.deepEqual(
      Object.fromEntries([...texts].map(([path, bytes]) => [path, Buffer.from(bytes).toString()])),
      expected,
    )
    assert.deepEqual(
      Object.fromEntries(derivations.map(({ file, text }) => [`derivations/${file}`, text])),
      Object.fromEntries(Object.entries(expected).filter(([path]) => path !== 'contract.yaml')),
    )
    const { records } = await listRecords(sheet, { limit: 10 })
    assert.deepEqual(JSON.parse(String(records)), [isNew ? NEW : OLD])
    const past = await store.recordAsOf('r', isNew ? ['id', 'until', 'at'] : ['id', 'at', 'until'], 1)
    assert.deepEqual(
      JSON.parse(String(past)),
      isNew ? { id: 'r', until: AT, at: UNTIL } : { id: 'r', at: AT, until: UNTIL },
    )
    assert.equal((await store.history()).last, isNew ? 2 : 1)
    return isNew
  } finally {
    await sheet.close()
  }
}

/** Returns the first step, the last two, and random ones between them, ascending. */
function chosen(steps: number): readonly number[] {
  const random = seededRandom(SEED)
  const all = Array.from({ length: steps }, (_, index) => ({ step: index + 1, at: random() }))
  const [first, between, end] = [all.slice(0, 1), all.slice(1, -2), all.slice(-2)]
  const some = between.toSorted((a, b) => a.at - b.at).slice(0, KILLS)
  return [...first, ...some, ...end].map(({ step }) => step).toSorted((a, b) => a - b)
}

async function sheetDirectory(t: TestContext): Promise<string> {
  const { 'contract.yaml': contract = '', ...derivations } = BEFORE
  return writeSheet(t, {
    contract,
    records: [OLD],
    derivations: Object.fromEntries(
      Object.entries(derivations).map(([path, text]) => [path.slice('derivations/'.length), text]),
    ),
  })
}

test('a kill at any step of a change in PostgreSQL leaves the old definition or the new one, with its records and history', async (t) => {
  const directory = await sheetDirectory(t)
  const counted = join(directory, 'steps')
  const whole = await newStore(directory)
  assert.equal(changeWith(whole, { STEPS: counted }).stderr, '')
  assert.equal(await checkStore(whole), true)
  const steps = Number(readFileSync(counted, 'utf8'))
  assert.ok(steps >= 50, `${steps} steps`)
  const outcomes: boolean[] = []
  for (const step of chosen(steps)) {
    const url = await newStore(directory)
    const { wasKilled, stderr } = changeWith(url, { KILL_AT_STEP: String(step) })
    assert.deepEqual({ step, wasKilled, stderr }, { step, wasKilled: true, stderr: '' })
    outcomes.push(await checkStore(url))
  }
  // Old until it is committed, new from then on.
  assert.deepEqual(
    outcomes,
    outcomes.toSorted((a, b) => Number(a) - Number(b)),
  )
  assert.ok(outcomes.includes(false) && outcomes.includes(true))
  t.diagnostic(
    `${outcomes.length} of ${steps} steps, ${outcomes.filter((isNew) => isNew).length} after the commit`,
  )
})
