import assert from 'node:assert/strict'
import { utimesSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, rename, rm, rmdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { writeDerivationFile } from '../../src/sheet/definition/change/derivation-file.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { openSheet, type SheetOptions } from '../../src/sheet/open-sheet.ts'
import { readContract } from '../../src/sheet/schema/read-contract.ts'
import { readStatus } from '../../src/sheet/cells/read-status.ts'
import { runQuery } from '../../src/sheet/queries/run-query.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { contractText } from '../support/contract-with.ts'
import { onEnd } from '../support/on-end.ts'
import { lookup, openLookupSheet, RunSheet, writeDerivations } from '../support/run-fixture.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const PROPERTIES = ['{name: a, logicalType: string}', '{name: b, logicalType: string}']

/** The operations that work while a derivation file is invalid, and those that do not (D3). */
const PLAIN_READS = ['list', 'get', 'query', 'provenance', 'delete']
const DERIVING = ['contract', 'upsert', 'status', 'materialize']

const OPERATIONS: Record<string, (run: RunSheet) => Promise<unknown>> = {
  contract: ({ sheet }) => readContract(sheet),
  list: ({ sheet }) => listRecords(sheet, {}),
  get: (run) => run.record('1'),
  upsert: (run) => run.write({ id: '1' }),
  delete: (run) => run.delete('none'),
  query: ({ sheet }) => runQuery(sheet, { sql: 'SELECT id FROM records', params: [] }),
  status: ({ sheet }) => readStatus(sheet, null),
  materialize: (run) => run.start(),
  provenance: (run) => run.entry('1', 'a'),
}

/** The outcome of every operation: `ok`, or the type and message of its error. */
async function tryAll(run: RunSheet, names: readonly string[]): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {}
  for (const name of names) outcomes[name] = await outcomeOf(() => OPERATIONS[name]!(run))
  return outcomes
}

async function outcomeOf(operation: () => Promise<unknown>): Promise<string> {
  try {
    await operation()
    return 'ok'
  } catch (error) {
    assert.ok(error instanceof Error)
    return `${'type' in error ? String(error.type) : error.name}: ${error.message}`
  }
}

/** Asserts that these operations end in `outcome` and all others well; a query that works starts a process, so not that. */
async function assertOutcomes(run: RunSheet, broken: readonly string[], outcome: RegExp): Promise<void> {
  const names = [...PLAIN_READS, ...DERIVING].filter((name) => name !== 'query' || broken.includes(name))
  for (const [name, seen] of Object.entries(await tryAll(run, names))) {
    assert.match(seen, broken.includes(name) ? outcome : /^ok$/, name)
  }
}

async function openedAnew(
  t: Parameters<typeof onEnd>[0],
  run: RunSheet,
  options: Partial<SheetOptions> = {},
): Promise<RunSheet> {
  const sheet = await openSheet(run.directory, options)
  onEnd(t, () => sheet.close())
  return RunSheet.of({ sheet, api: run.api, directory: run.directory })
}

test('D3: an invalid contract stops every operation, with file and line, until it is fixed', async (t) => {
  const { logger, logged } = listeningLogger()
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }], { logger })
  const path = join(run.directory, 'contract.yaml')
  const good = await readFile(path, 'utf8')
  const everything = [...PLAIN_READS, ...DERIVING]
  await assertOutcomes(run, [], /./)

  await writeFile(path, good.replace('logicalType: string', 'logicalType: strin'))
  const fault = /^ContractError: contract\.yaml:8: .*did you mean "string"/
  await assertOutcomes(run, everything, fault)
  assert.equal(logged.length, 1)

  await writeFile(path, good)
  await assertOutcomes(run, [], /./)

  await rename(path, `${path}.away`)
  await assertOutcomes(
    run,
    everything,
    /^ContractError: contract\.yaml is missing; put it back into the sheet$/,
  )
  await rename(`${path}.away`, path)
  await assertOutcomes(run, [], /./)

  await writeFile(path, Buffer.from([0xff, 0xfe]))
  await assertOutcomes(run, everything, /^ContractError: contract\.yaml is not valid UTF-8/)
  await writeFile(path, good)
  await assertOutcomes(run, [], /./)
  assert.equal(logged.length, 3)

  // Many operations at once over a file that was just edited all see the edit.
  for (const [text, outcome] of [
    ['kind: [', /^ContractError/],
    [good, /^ok$/],
  ] as const) {
    await writeFile(path, text)
    const names = ['list', 'contract', 'get', 'status', 'upsert']
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => tryAll(run, names)))
    for (const seen of outcomes.flatMap((each) => Object.values(each))) assert.match(seen, outcome)
  }
})

/** Reads twice when files count as just edited no longer: what the first finds could be remembered. */
async function readLater(t: TestContext, read: () => Promise<void>): Promise<void> {
  const later = Date.now() + 60_000
  const { mock } = t.mock.method(Date, 'now', () => later)
  await read()
  await read()
  mock.restore()
}

test('D3: a contract or derivation file that cannot be read is an error until it can', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const derivation = join(run.directory, 'derivations', 'c.yaml')
  await mkdir(derivation)
  const unreadable = /^ContractError: derivations\/c\.yaml is a directory and cannot be read/
  await assertOutcomes(run, DERIVING, unreadable)
  await readLater(t, () => assertOutcomes(run, DERIVING, unreadable))
  await assertOutcomes(await openedAnew(t, run), DERIVING, unreadable)
  await rmdir(derivation)
  await assertOutcomes(run, [], /./)

  const contract = join(run.directory, 'contract.yaml')
  await rename(contract, `${contract}.away`)
  await mkdir(contract)
  const fault = /^ContractError: contract\.yaml is a directory and cannot be read/
  await assertOutcomes(run, [...PLAIN_READS, ...DERIVING], fault)
  await readLater(t, () => assertOutcomes(run, [...PLAIN_READS, ...DERIVING], fault))
  await rmdir(contract)
  await rename(`${contract}.away`, contract)
  await assertOutcomes(run, [], /./)
})

test('D3: an invalid derivation file stops contract, upsert, status and materialize; other operations work', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  const good = lookup(run.api.url, 'b', 'a')
  await writeDerivations(run.directory, { 'b.yaml': { ...good, respons_path: 'value' } })
  const fault = /^ContractError: derivations\/b\.yaml:\d+: unknown key "respons_path".*response_path/
  await assertOutcomes(run, DERIVING, fault)
  await assertOutcomes(await openedAnew(t, run), DERIVING, fault)
  assert.deepEqual(await tryAll(run, ['query']), { query: 'ok' })
  await writeDerivations(run.directory, { 'b.yaml': good, 'other.yaml': good })
  await assertOutcomes(
    run,
    DERIVING,
    /^ContractError: derivations\/b\.yaml and derivations\/other\.yaml both have the target "b"/,
  )
  await rm(join(run.directory, 'derivations', 'other.yaml'))
  await assertOutcomes(run, [], /./)
  // What was computed before is neither lost nor computed again.
  assert.deepEqual(await run.counts('b'), { fresh: 1 })
  assert.deepEqual(run.api.calls(), { 'GET /b/x': 1 })
})

test('D3, D7: added and removed derivation files count from the next operation on', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const path = join(run.directory, 'derivations', 'b.yaml')
  await run.run()
  await rm(path)
  assert.deepEqual(Object.keys(await readStatus(run.sheet, null)), [])
  await run.write({ id: '1', b: 'anybody may' })
  await assert.rejects(run.start({ targets: ['b'] }), {
    message: 'no derivation has the target "b"; this sheet has no derivations',
  })
  await rm(join(run.directory, 'derivations'), { recursive: true })
  assert.deepEqual(await run.run(), { materialized: 0, skipped: 0, failures: [], totalCost: 0 })

  await writeDerivations(run.directory, { 'later.yaml': lookup(run.api.url, 'b', 'a'), 'not-yaml.txt': {} })
  await assert.rejects(run.write({ id: '1', b: 'nobody may' }), { type: 'PermissionDeniedError' })
  assert.equal((await run.status('b')).derivation, 'later.yaml')
  assert.deepEqual(await run.counts('b'), { overridden: 1 })
})

test('D1: hidden files in the folder of derivations, such as the ._* of copies from other systems, are not read', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await writeFile(join(run.directory, 'derivations', '._b.yaml'), Buffer.from([0, 5, 22, 7, 0xff]))
  await assertOutcomes(run, [], /./)
  await assertOutcomes(await openedAnew(t, run), [], /./)
})

test('D3: edits are detected even if neither time nor size of the file changes', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const contract = join(run.directory, 'contract.yaml')
  const derivation = join(run.directory, 'derivations', 'b.yaml')
  const [contractThen, derivationThen] = [
    await readFile(contract, 'utf8'),
    await readFile(derivation, 'utf8'),
  ]
  const { mtime } = await stat(contract)
  for (let round = 0; round < 6; round += 1) {
    const version = String(round).padStart(2, '0')
    writeFileSync(contract, contractThen.replace('id: sample', `id: sampl${version}`))
    utimesSync(contract, mtime, mtime)
    writeFileSync(derivation, derivationThen.replace('"value"', `"valu${version}"`))
    utimesSync(derivation, mtime, mtime)
    assert.equal((await readContract(run.sheet))['id'], `sampl${version}`)
    const { failures } = await run.start()
    assert.match(failures[0]?.error ?? '', new RegExp(`no "valu${version}" in the response$`))
  }
})

test('D9: a contract that stored records violate stops every operation and changes nothing, until it is reverted', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'long' },
    { id: '2', a: 'longer' },
    { id: '3', a: 's' },
  ])
  const path = join(run.directory, 'contract.yaml')
  const good = await readFile(path, 'utf8')
  await writeFile(
    path,
    good.replace(
      '{name: a, logicalType: string}',
      '{name: a, logicalType: string, logicalTypeOptions: {maxLength: 3}}',
    ),
  )
  await assertOutcomes(run, [...PLAIN_READS, ...DERIVING], /^ContractError: contract\.yaml .*"a".* 2 records/)
  await writeFile(path, good.replace('{name: a, logicalType: string}', '{name: other, logicalType: string}'))
  await assertOutcomes(run, [...PLAIN_READS, ...DERIVING], /^ContractError: contract\.yaml .*"a".* 3 records/)
  // Taken back, and a new optional property, which applies by itself; the file is replaced, as editors do.
  await writeFile(
    `${path}.new`,
    good.replace('{name: b,', '{name: later, logicalType: integer}\n      - {name: b,'),
  )
  await rename(`${path}.new`, path)
  assert.deepEqual(await run.record('2'), { id: '2', a: 'longer', later: null, b: null })
  await run.write({ id: '2', later: 5 })
  assert.equal(await run.value('2', 'later'), 5)
})

test('D2, D3: a sheet whose files are invalid at first opens once they are fixed, step by step', async (t) => {
  const directory = await writeSheet(t, { contract: 'kind: [', derivations: { 'b.yaml': 'targets: 1' } })
  const records = join(directory, 'records.jsonl')
  await writeFile(records, '{"id":"1","a":"x"}\n{"id":"2","a":7}\n')
  const { logger, logged } = listeningLogger()
  const sheet = await openSheet(directory, { logger })
  onEnd(t, () => sheet.close())
  await assert.rejects(listRecords(sheet, {}), { type: 'ContractError' })

  await writeFile(join(directory, 'contract.yaml'), contractText(PROPERTIES))
  await assert.rejects(listRecords(sheet, {}), {
    type: 'RecordsError',
    message: /^records\.jsonl:2: field "a": /,
  })
  await assert.rejects(listRecords(sheet, {}), { type: 'RecordsError' })
  await assert.rejects(stat(join(directory, 'sheet.db')), { code: 'ENOENT' })

  await writeFile(records, '{"id":"1","a":"x","b":"came with it"}\n{"id":"2","a":"7"}\n')
  assert.equal((JSON.parse(String((await listRecords(sheet, {})).records)) as JsonObject[]).length, 2)
  await assert.rejects(readStatus(sheet, null), {
    type: 'ContractError',
    message: /^derivations\/b\.yaml:1: /,
  })
  // Each fault is logged once, however often it is met.
  assert.deepEqual(
    logged.map((message) => message.split(/[:\s]/, 1)[0]),
    ['contract.yaml', 'derivations/b.yaml', 'records.jsonl'],
  )

  await writeDerivations(directory, { 'b.yaml': lookup('http://127.0.0.1:9', 'b', 'a') })
  assert.equal((await readStatus(sheet, ['b']))['b']?.overridden, 1)
  assert.equal((await readStatus(sheet, ['b']))['b']?.missing, 1)
})

test('D3: a path that is no directory or has no contract.yaml is a SheetError', async (t) => {
  const directory = await writeSheet(t)
  const open = (path: string): Promise<Sheet> => openSheet(path)
  await assert.rejects(open(join(directory, 'nowhere')), {
    type: 'SheetError',
    message: /nowhere is not a directory/,
  })
  await assert.rejects(open(join(directory, 'contract.yaml')), {
    type: 'SheetError',
    message: /is not a directory/,
  })
  await assert.rejects(open(join(directory, 'derivations')), {
    type: 'SheetError',
    message: /has no contract\.yaml/,
  })
  await assert.rejects(stat(join(directory, 'derivations', 'sheet.db')), { code: 'ENOENT' })
})

test('a change of a file that is a link is refused, and its dry run too', async (t) => {
  const directory = await writeSheet(t)
  const sheet = await openSheet(directory)
  onEnd(t, () => sheet.close())
  const file = join(directory, 'derivations', 'rate.yaml')
  await rename(file, join(directory, 'rate.yaml'))
  await symlink('../rate.yaml', file)
  const text = await readFile(file, 'utf8')
  for (const dryRun of [true, false]) {
    const change = { actor: 'human:ann', dryRun, note: null, ifMatch: null }
    await assert.rejects(
      writeDerivationFile(sheet, { file: 'rate.yaml', text: `# New\n${text}` }, change),
      /^Error: derivations\/rate\.yaml is a symbolic link, which the service does not change/,
    )
  }
  assert.equal(await readFile(file, 'utf8'), text)
})

test('D36: errors of an upsert itself are reported before those of the sheet', async (t) => {
  const sheet = await openSheet(await writeSheet(t, { contract: 'kind: [' }))
  onEnd(t, () => sheet.close())
  const faults: [body: string, message: RegExp][] = [
    ['{"records": [', /^the body is not JSON/],
    ['{"records": {}}', /^"records" must be an array/],
    ['{"records": []}', /^actor is required$/],
  ]
  for (const [body, message] of faults) {
    await assert.rejects(upsertRecords(sheet, Buffer.from(body)), { type: 'ValidationError', message })
  }
  const good = Buffer.from('{"records": [], "actor": "human:ann"}')
  await assert.rejects(upsertRecords(sheet, good), { type: 'ContractError' })
})

function listeningLogger(): { logger: SheetOptions['logger']; logged: readonly string[] } {
  const logged: string[] = []
  const error = (_: object, message: string): void => void logged.push(message)
  return { logger: { info: () => undefined, warn: () => undefined, error }, logged }
}
