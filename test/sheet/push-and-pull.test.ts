import assert from 'node:assert/strict'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { LOGICAL_TYPES } from '../../src/contract/contract.ts'
import type { JsonObject, JsonValue } from '../../src/contract/json/json.ts'
import { ContractError, SheetError } from '../../src/errors/service-error.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { pullSheet } from '../../src/sheet/lifecycle/pull-sheet.ts'
import { pushSheet, type PushReport } from '../../src/sheet/lifecycle/push-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import type { Random } from '../../src/store/suite/support/random.ts'
import { contractText } from '../support/contract-with.ts'
import { fuzzRun } from '../support/fuzz.ts'
import { oddId, oddValue } from '../support/odd-records.ts'
import { onEnd } from '../support/on-end.ts'
import { startPostgres } from '../support/postgres.ts'
import { entriesOf } from '../../src/store/suite/support/test-sheet.ts'
import { OFFERS, RATES, writeSheet, type SheetFiles } from '../support/sheet-fixture.ts'

const ACTOR = 'human:ann'
const EVERYTHING = { targets: null, recordIds: null, force: false, only: null, limit: null } as const

const postgres = await startPostgres()

function push(directory: string, url: string, dryRun = false): Promise<PushReport> {
  return pushSheet(directory, url, { actor: ACTOR, note: null, dryRun, lockTimeoutMs: 5000 })
}

async function open(t: TestContext, place: string): Promise<Sheet> {
  const sheet = await openSheet(place, { transport: parseStub(RATES), defaultActor: ACTOR })
  onEnd(t, () => sheet.close())
  return sheet
}

async function run(sheet: Sheet): Promise<void> {
  await materialize(sheet, { ...EVERYTHING, maxCalls: null, maxCost: null, actor: ACTOR })
}

/** A sheet that was pushed, and two servers of it that know nothing of each other. */
async function shared(
  t: TestContext,
): Promise<{ directory: string; url: string; servers: readonly Sheet[] }> {
  const directory = await writeSheet(t)
  const url = postgres.freshUrl()
  await push(directory, url)
  return { directory, url, servers: [await open(t, url), await open(t, url)] }
}

async function fieldsOf(sheet: Sheet): Promise<readonly string[]> {
  return (await sheet.current()).contract.fields.map(({ name }) => name)
}

test('D20: a push has the database check the types in formulas, and stores nothing if it refuses one', async (t) => {
  const formula = (expression: string): string => `targets: [loud]\nkind: sql\nexpression: ${expression}\n`
  const directory = await writeSheet(t, {
    contract: contractText(['{name: n, logicalType: integer}', '{name: loud, logicalType: string}']),
    records: [{ id: 'a', n: 1 }],
    derivations: { 'loud.yaml': formula('upper(n)') },
  })
  const url = postgres.freshUrl()
  const refusal = {
    message:
      /^derivations\/loud\.yaml:3: expression cannot be used: function upper\(bigint\) does not exist$/,
  }
  await assert.rejects(push(directory, url, true), refusal)
  await assert.rejects(push(directory, url), refusal)
  await assert.rejects(openSheet(url), SheetError)
  await writeFile(join(directory, 'derivations', 'loud.yaml'), formula("upper('n' || n)"))
  await push(directory, url)
  const sheet = await open(t, url)
  await run(sheet)
  const { records } = await listRecords(sheet, { limit: 1, cursor: null })
  assert.deepEqual(JSON.parse(String(records)), [{ id: 'a', n: 1, loud: 'N1' }])
})

test('a pushed revision is in force on every server with its next request', async (t) => {
  const { directory, url, servers } = await shared(t)
  for (let round = 1; round <= 5; round += 1) {
    const more = Array.from({ length: round }, (_, n) => `{name: more_${n}, logicalType: string}`)
    await writeFile(
      join(directory, 'contract.yaml'),
      OFFERS.contract + more.map((text) => `      - ${text}\n`).join(''),
    )
    await writeFile(join(directory, 'transport.yaml'), `hosts:\n  rates.example: { concurrency: ${round} }\n`)
    const report = await push(directory, url)
    assert.deepEqual([report.revision, report.before], [round + 1, round])
    assert.deepEqual(report.fields.added, [`more_${round - 1}`])
    for (const sheet of servers) {
      assert.ok((await fieldsOf(sheet)).includes(`more_${round - 1}`))
      assert.equal(sheet.policies().forUrl('https://rates.example/').concurrency, round)
    }
    const [one, other] = servers as [Sheet, Sheet]
    await upsertRecords(one, { records: [{ id: 'a', [`more_${round - 1}`]: 'x' }] })
    const { records } = await listRecords(other, { limit: 1, cursor: null })
    assert.equal((JSON.parse(String(records)) as JsonObject[])[0]?.[`more_${round - 1}`], 'x')
  }
})

test('servers serve requests during pushes, and end with the last revision', async (t) => {
  const { directory, url, servers } = await shared(t)
  let ended = false
  const asking = servers.map(async (sheet) => {
    while (!ended) await listRecords(sheet, { limit: 10, cursor: null })
  })
  try {
    for (let round = 1; round <= 8; round += 1) {
      const text = `${OFFERS.derivations['rate.yaml']}# ${round}\n`
      await writeFile(join(directory, 'derivations', 'rate.yaml'), text)
      await push(directory, url)
    }
  } finally {
    ended = true
    await Promise.all(asking)
  }
  for (const sheet of servers) {
    const bytes = sheet.definitionFiles().find(({ path }) => path.endsWith('rate.yaml'))?.bytes
    await sheet.deriving()
    assert.match(
      String(sheet.definitionFiles().find(({ path }) => path.endsWith('rate.yaml'))?.bytes ?? bytes),
      /# 8/,
    )
  }
})

test('a push reports the derivations that change, and the number of stale cells; a dry run only reports', async (t) => {
  const { directory, url, servers } = await shared(t)
  const [one, other] = servers as [Sheet, Sheet]
  await run(one)
  await writeFile(join(directory, 'derivations', 'rate.yaml'), `${OFFERS.derivations['rate.yaml']}# other\n`)
  const stale = async (): Promise<number | undefined> =>
    (await (await other.deriving()).store.status()).targets[0]?.stale
  const planned = await push(directory, url, true)
  // Of three cells one failed.
  assert.deepEqual(planned.derivations, [
    { field: 'rate', derivation: 'rate.yaml', change: 'changed', stale: 2, missing: 0 },
  ])
  assert.deepEqual(planned.files, { added: [], changed: ['derivations/rate.yaml'], removed: [] })
  assert.equal(await stale(), 0)
  const done = await push(directory, url)
  assert.deepEqual({ ...done, dryRun: true }, planned)
  assert.equal(await stale(), 2)
})

test('a push of invalid files reports every error, and one that would make records invalid reports these; nothing changes', async (t) => {
  const { directory, url, servers } = await shared(t)
  await writeFile(join(directory, 'derivations', 'rate.yaml'), 'targets: [nothing]\n')
  await writeFile(join(directory, 'transport.yaml'), 'hosts: 1\n')
  await assert.rejects(push(directory, url), (error: unknown) => {
    assert.ok(error instanceof ContractError)
    assert.match(error.message, /rate\.yaml.*; transport\.yaml/s)
    return true
  })
  await rm(join(directory, 'transport.yaml'))
  await writeFile(join(directory, 'derivations', 'rate.yaml'), OFFERS.derivations['rate.yaml'] ?? '')
  await writeFile(
    join(directory, 'contract.yaml'),
    OFFERS.contract.replace('price, logicalType: number', 'price, logicalType: string'),
  )
  await assert.rejects(push(directory, url), /property "price" was of type number and is now string/)
  for (const sheet of servers) {
    assert.deepEqual((await sheet.deriving()).contract.text, OFFERS.contract)
    await run(sheet)
  }
})

test('a place without a sheet is reported, whether it is a directory or a store', async (t) => {
  const url = postgres.freshUrl()
  await assert.rejects(openSheet(url), (error: unknown) => {
    assert.ok(error instanceof SheetError)
    assert.match(error.message, /colophon push/)
    return true
  })
  await assert.rejects(push('/nowhere', url), SheetError)
  const directory = await writeSheet(t)
  await assert.rejects(openSheet(postgres.url('a', { database: 'nowhere' })), /no such database/)
  await assert.rejects(push(directory, postgres.url('a', { user: 'nobody' })), /denies access/)
  await assert.rejects(openSheet('postgres://user:hushed@127.0.0.1:1/x'), (error: unknown) => {
    assert.match(String(error), /cannot be reached/)
    assert.doesNotMatch(String(error), /hushed/)
    return true
  })
})

test('a derivation must not send the URL of the store', async (t) => {
  const directory = await writeSheet(t, {
    derivations: {
      'rate.yaml': `${OFFERS.derivations['rate.yaml']}headers: { X-Key: '{{ env.COLOPHON_STORE }}' }\n`,
    },
  })
  const url = postgres.freshUrl()
  process.env['COLOPHON_STORE'] = url
  t.after(() => delete process.env['COLOPHON_STORE'])
  await push(directory, url)
  await assert.rejects(
    run(await open(t, url)),
    /needs the environment variable COLOPHON_STORE, which is not set/,
  )
})

test('a pull overwrites nothing, and leaves nothing behind when it fails', async (t) => {
  const { directory, servers } = await shared(t)
  const [sheet] = servers as [Sheet]
  const before = await readdir(directory)
  await assert.rejects(pullSheet(sheet, directory), /has a file contract\.yaml already/)
  assert.deepEqual(await readdir(directory), before)
})

/** All that a sheet answers with, as lines of text, so that a difference is seen where it is. */
async function answers(sheet: Sheet): Promise<readonly string[]> {
  const { store, contract } = await sheet.deriving()
  const fields = contract.fields.map(({ name }) => name)
  const page = await store.page({ fields, limit: 1000, after: null, filter: null, sort: [], skip: 0 })
  const records = JSON.parse(String(page.records)) as { id: string }[]
  const runs = await store.runs({ before: null, limit: 100 })
  const { last } = await store.history()
  const past = await Promise.all(
    [1, Math.ceil(last / 2), last].map((seq) => store.pageAsOf({ fields, limit: 1000, after: null, seq })),
  )
  const cells = records.flatMap(({ id }) => fields.map((field) => ({ id, field })))
  const parts: readonly unknown[] = [
    ...sheet.definitionFiles().map(({ path, bytes }) => [path, String(bytes)]),
    ...records,
    ...(await Promise.all(records.map(async ({ id }) => [id, (await store.record(id, fields))?.version]))),
    ...(await Promise.all(cells.map(({ id, field }) => entriesOf(store, id, field)))),
    ...past.flatMap((each) => JSON.parse(String(each.records)) as JsonObject[]),
    await store.status(),
    await store.history(),
    runs,
    ...(await Promise.all(runs.map(({ id }) => store.runFailures({ run: id, after: 0, limit: 1000 })))),
    await store.derivationVersions('rate.yaml'),
    await store.proposals.list({ before: null, limit: 100, state: null }),
  ]
  return parts.map((part) => JSON.stringify(part))
}

/** A sheet of every type with odd values, some fields of which are required, or derived. */
function oddSheet(random: Random): SheetFiles {
  const names = LOGICAL_TYPES.flatMap((type) => [
    { name: `f_${type}`, type },
    ...(random.chance(0.4) ? [{ name: `F_${type}_`, type }] : []),
  ])
  const properties = names.map(({ name, type }) => `{name: ${name}, logicalType: ${type}}`)
  const records = Array.from({ length: 20 }, (_, number) =>
    oddRecord(random, { id: oddId(random, number), names }),
  )
  const contract = contractText([
    ...properties,
    '{name: currency, logicalType: string}',
    "{name: rate, logicalType: number, customProperties: [{property: editableBy, value: ['human:ann']}]}",
  ])
  return {
    contract: `${contract}# ${random.pick(['ü', '\u2028', ''])}\n`,
    records,
    derivations: OFFERS.derivations,
  }
}

function oddRecord(
  random: Random,
  { id, names }: { id: string; names: readonly { name: string; type: (typeof LOGICAL_TYPES)[number] }[] },
): JsonObject {
  const values = names.map(({ name, type }): [string, JsonValue] => [name, oddValue(random, type)])
  return { id, ...Object.fromEntries(values), currency: random.pick(['EUR', 'USD', 'XXX', null]) }
}

/** Changes records, computes cells, overrides some, leaves some stale, and a proposal. */
async function live(sheet: Sheet, random: Random): Promise<void> {
  const { store } = await sheet.deriving()
  const { records } = await store.page({
    fields: ['id'],
    limit: 100,
    after: null,
    filter: null,
    sort: [],
    skip: 0,
  })
  const ids = (JSON.parse(String(records)) as { id: string }[]).map(({ id }) => id)
  const some = (): string[] => ids.filter(() => random.chance(0.3))
  const write = async (changes: readonly JsonObject[]): Promise<void> => {
    if (changes.length > 0)
      await store.upsert({ body: { records: changes }, defaultActor: ACTOR, ifMatch: null })
  }
  await run(sheet)
  await write(some().map((id) => ({ id, currency: random.pick(['EUR', 'USD', 'XXX']) })))
  await write(some().map((id) => ({ id, rate: random.below(100) / 7 })))
  const gone = some().slice(0, 3)
  if (gone.length > 0) await store.delete(gone, ACTOR)
  await write(gone.slice(0, 1).map((id) => ({ id, currency: 'EUR' })))
  await store.proposals.propose({
    change: { records: [{ id: 'new', currency: 'EUR' }] },
    actor: 'agent:x',
    note: 'n',
  })
}

/** The files of a sheet; those that one of the engines writes as JSON in its own way are compared as values. */
async function filesOf(directory: string): Promise<Readonly<Record<string, unknown>>> {
  const names = [
    'contract.yaml',
    'transport.yaml',
    'derivations/rate.yaml',
    'provenance.jsonl',
    'records.jsonl',
  ]
  const files: Record<string, unknown> = {}
  for (const name of names) {
    const text = await readFile(join(directory, name), 'utf8').catch(() => null)
    if (text === null) continue
    files[name] = name === 'records.jsonl' ? text.split('\n').slice(0, -1).map(restringified) : text
  }
  return files
}

function restringified(line: string): string {
  return JSON.stringify(JSON.parse(line))
}

const { count, random, again } = fuzzRun({ test: 1, fuzz: 100 })

for (let round = 0; round < count; round += 1) {
  const files = oddSheet(random)
  test(`sheet → PostgreSQL → sheet loses nothing and changes nothing (round ${round}; ${again})`, async (t) => {
    const directory = await writeSheet(t, files)
    if (random.chance(0.5)) await writeFile(join(directory, 'transport.yaml'), '# ü\r\nhosts: {}\r\n')
    const lived = random.chance(0.8)
    const original = await open(t, directory)
    if (lived) await live(original, random)
    const expected = await answers(original)
    // What the directory holds at this moment, its records as they are now.
    const copy = join(directory, 'copy')
    await mkdir(copy)
    await (await original.deriving()).store.snapshot(copy)
    await original.close()
    const url = postgres.freshUrl()
    await push(directory, url)
    const stored = await open(t, url)
    assert.deepEqual(await answers(stored), expected)
    const pulled = join(directory, 'pulled')
    await pullSheet(stored, pulled)
    await cp(join(directory, 'contract.yaml'), join(copy, 'contract.yaml'))
    const before = { ...(await filesOf(directory)), ...(await filesOf(copy)) }
    assert.deepEqual(await filesOf(pulled), before)
    assert.deepEqual(await answers(await open(t, pulled)), expected)
    // And once more: what was pulled is pushed as the same sheet.
    const second = postgres.freshUrl()
    await push(pulled, second)
    assert.deepEqual(await answers(await open(t, second)), expected)
  })
}
