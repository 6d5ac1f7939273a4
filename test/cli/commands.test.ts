import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { propose, type ProposedChange } from '../../src/sheet/writes/proposals.ts'
import { readContract } from '../../src/sheet/schema/read-contract.ts'
import { readDerivations } from '../../src/sheet/schema/read-derivations.ts'
import { summarizeRecords } from '../../src/sheet/queries/summarize-records.ts'
import { toDerivationListAnswer } from '../../src/wire/definition/derivations.ts'
import type { DeletedAnswer } from '../../src/wire/records/deleted.ts'
import type { ProposalAnswer, ProposalListAnswer, ProposalSummary } from '../../src/wire/records/proposals.ts'
import { RecordListAnswer } from '../../src/wire/records/records.ts'
import { runCommand } from '../support/run-command.ts'
import type { Ran, RunOptions } from '../support/run-colophon.ts'
import { OFFERS, RATES, writeSheet } from '../support/sheet-fixture.ts'

/** A sheet, and commands that work on it: `run('list', '--limit', '1')`. */
async function open(
  t: TestContext,
  files: Parameters<typeof writeSheet>[1] = {},
): Promise<{ sheet: string; stub: string; run: (command: string, ...args: string[]) => Promise<Ran> }> {
  const sheet = await writeSheet(t, files)
  const stub = join(sheet, 'stub.json')
  await writeFile(stub, RATES)
  return { sheet, stub, run: (command, ...args) => runCommand([command, sheet, ...args]) }
}

function input(text: string): RunOptions {
  return { input: text, env: { COLOPHON_ACTOR: 'human:ann' } }
}

/** The result of a command that went well and had nothing else to tell. */
function json({ code, stdout, stderr }: Ran): unknown {
  assert.equal(stderr, '')
  assert.equal(code, 0)
  assert.match(stdout, /^[^\n]+\n$/)
  return JSON.parse(stdout)
}

test('list prints the records as JSON, with the cursor of those that follow', async (t) => {
  const { run } = await open(t)
  const first = json(await run('list', '--fields', 'id,price', '--limit', '2')) as {
    records: unknown[]
    next_cursor: string
  }
  assert.deepEqual(first.records, [
    { id: 'a', price: 1.5 },
    { id: 'b', price: 2 },
  ])
  assert.deepEqual(Object.keys(first), RecordListAnswer.required)
  const rest = json(await run('list', '--fields', 'id', '--cursor', first.next_cursor))
  assert.deepEqual(rest, { records: [{ id: 'c' }], format: 'json', limit: 50, next_cursor: null })
})

test('list filters, sorts, and reads earlier states', async (t) => {
  const { sheet, run } = await open(t)
  const sorted = await run(
    'list',
    '--fields',
    'id',
    '--sort',
    '-price',
    '--filter',
    'price > 1',
    '--format',
    'ndjson',
  )
  assert.equal(sorted.stdout, '{"id":"b"}\n{"id":"a"}\n')
  await runCommand(['upsert', sheet], input('{"id":"a","title":"Avocado"}'))
  const [now, then] = await Promise.all([
    run('get', 'a', '--fields', 'title'),
    run('get', 'a', '--fields', 'title', '--as-of', '1'),
  ])
  assert.deepEqual([json(now), json(then)], [{ title: 'Avocado' }, { title: 'Apple' }])
})

test('the note about a truncated list is beside NDJSON, and --all truncates nothing', async (t) => {
  const records = Array.from({ length: 2345 }, (_, index) => ({ id: `r${index}`, title: `number ${index}` }))
  const { run } = await open(t, { records })
  const [few, all, array] = await Promise.all([
    run('list', '--format', 'ndjson'),
    run('list', '--format', 'ndjson', '--all', '--fields', 'id,title'),
    run('list', '--all', '--fields', 'id,title'),
  ])
  assert.equal(few.stdout.split('\n').length - 1, 50)
  assert.match(few.stderr, /^There are more: use --all for all, or --cursor \S+ for the next\.\n$/)
  assert.equal(all.stderr, '')
  assert.deepEqual(
    all.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
    records,
  )
  assert.deepEqual(json(array), { records, format: 'json', limit: null, next_cursor: null })
})

test('upsert reads NDJSON, JSON and CSV from standard input and detects the format', async (t) => {
  const { sheet, run } = await open(t)
  const inputs = [
    '{"id":"d","title":"Dill","price":1}\n\n{"id":"a","price":9}\n',
    '[{"id":"e","title":"Egg","price":2}]',
    '{\n  "records": [{"id": "f", "title": "Fig", "price": 3}]\n}',
    '\ufeffid,title,price\ng,"Grape, white",4\n',
  ]
  const results: unknown[] = []
  for (const text of inputs) results.push(json(await runCommand(['upsert', sheet], input(text))))
  assert.deepEqual(results, [
    { inserted: 1, updated: 1, total: 4 },
    { inserted: 1, updated: 0, total: 5 },
    { inserted: 1, updated: 0, total: 6 },
    { inserted: 1, updated: 0, total: 7 },
  ])
  const prices = await run('query', 'SELECT title, price FROM records WHERE price > 2 ORDER BY id')
  assert.deepEqual((json(prices) as { rows: unknown }).rows, [
    { title: 'Apple', price: 9 },
    { title: 'Fig', price: 3 },
    { title: 'Grape, white', price: 4 },
  ])
})

test('upsert prints its guesses about the input to standard error', async (t) => {
  const { sheet } = await open(t)
  const { code, stderr } = await runCommand(['upsert', sheet], input('# list\nid,title\na,Avocado\n'))
  assert.deepEqual([code, stderr], [0, 'Guessed: passed over 1 line above the table: "# list"\n'])
})

test('upsert writes a long input in batches: records before an error are kept, and the error has its line', async (t) => {
  const { sheet, run } = await open(t, { records: [] })
  const lines = Array.from({ length: 3000 }, (_, index) => ({
    id: `r${index}`,
    title: index === 2500 ? 7 : 'x',
  }))
  const file = join(sheet, 'many.ndjson')
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const { code, stdout, stderr } = await run('upsert', file, '--actor', 'human:ann')
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(
    stderr,
    /^error: .*many\.ndjson:2501 \(id "r2500"\), field "title": 7 is not a string.*; 2000 records before these are stored\n$/,
  )
  assert.deepEqual(json(await run('query', 'SELECT count(*) AS n FROM records')), {
    rows: [{ n: 2000 }],
    count: 1,
  })
})

test('upsert requires an actor, and has no default', async (t) => {
  const { sheet } = await open(t)
  const { code, stdout, stderr } = await runCommand(['upsert', sheet], { input: '{"id":"a"}' })
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /^error: no actor is given; [^\n]*--actor[^\n]*COLOPHON_ACTOR\n$/)
})

test('delete reads ids from arguments or standard input, and asks nothing in a pipe', async (t) => {
  const { sheet, run } = await open(t)
  assert.deepEqual(json(await run('delete', 'a', 'nobody', '--actor', 'human:ann')), {
    deleted: 1,
    remaining: 2,
  })
  const piped = await runCommand(['delete', sheet, '-'], input('b\r\nc\n'))
  assert.deepEqual(json(piped), { deleted: 2, remaining: 0 })
})

test('delete --dry-run prints the number of records, and deletes nothing', async (t) => {
  const { run } = await open(t)
  const dry = ['delete', 'a', 'nobody', 'a', '--dry-run', '--actor', 'human:ann'] as const
  const plan = { deleted: 1, remaining: 2, missing: ['nobody'], dry_run: true }
  assert.deepEqual(json(await run(...dry)), plan)
  assert.equal(
    (await run(...dry, '--format', 'table')).stdout,
    'Nothing was deleted; it would be 1 record, and 2 would remain\nNo record: nobody\n',
  )
  assert.deepEqual(json(await run('count')), { count: 3 })
})

test('erase removes values for good, needs --yes in a pipe, and verify says how many lines it concerns', async (t) => {
  const { sheet, run } = await open(t)
  await runCommand(['upsert', sheet], input('{"id":"a","currency":"SEC"}'))
  const refused = await run('erase', 'a', '--actor', 'human:ann')
  assert.equal(refused.code, 2)
  assert.match(
    refused.stderr,
    /^error: erasing cannot be undone, and there is no terminal to ask; add --yes\n/,
  )
  const erased = await run(
    'erase',
    'a',
    '--fields',
    'currency',
    '--yes',
    '--actor',
    'human:ann',
    '--format',
    'table',
  )
  assert.equal(
    erased.stdout,
    'values of 1 record erased, from 1 line of the log\ncomputed from them, and not erased: rate\n',
  )
  assert.deepEqual(json(await run('get', 'a', '--fields', 'currency')), { currency: null })
  const history = json(await run('provenance', 'a', 'currency', '--history')) as Record<string, unknown>[]
  assert.deepEqual(
    history.map(({ source, value, erased_fields: fields }) => ({ source, value, fields })),
    [
      { source: 'write', value: null, fields: ['currency'] },
      { source: 'erase', value: null, fields: undefined },
    ],
  )
  const verified = await runCommand(['verify', sheet, '--format', 'table'])
  assert.match(verified.stdout, /no difference\n[^]*erased: values of 1 line, as later lines say/)
  const { erased: records } = json(await run('erase', 'a', '--yes', '--actor', 'human:ann')) as {
    erased: unknown[]
  }
  assert.equal(records.length, 1)
  assert.equal((await run('get', 'a')).code, 1)
})

test('contract, derivations, summary and count print the responses of HTTP', async (t) => {
  const { sheet, run } = await open(t)
  const opened = await openSheet(sheet)
  const [contract, derivations, summary] = await Promise.all([
    readContract(opened),
    readDerivations(opened),
    summarizeRecords(opened, { fields: ['title', 'price'], filter: 'price > 1' }),
  ])
  await opened.close()
  assert.deepEqual(json(await run('contract')), contract)
  const answer = toDerivationListAnswer(derivations, { models: [], secrets: [], scripts: false })
  assert.deepEqual(json(await run('derivations')), answer)
  assert.deepEqual(json(await run('derivations', 'rate.yaml')), answer.derivations[0])
  const filter = ['--filter', 'price > ?', '--param', '1'] as const
  assert.deepEqual(
    json(await run('summary', '--fields', 'title,price', ...filter)),
    JSON.parse(String(summary)),
  )
  assert.deepEqual(json(await run('count', ...filter)), { count: 2 })

  const table = async (...args: Parameters<typeof run>): Promise<string> =>
    (await run(...args, '--format', 'table')).stdout
  assert.match(await table('contract'), /^field +type +rules .*\nid +string +key\n/)
  assert.match(await table('derivations'), /^file +kind +targets +inputs +hosts\nrate\.yaml +http +rate /)
  assert.equal(await table('derivations', 'rate.yaml'), `${derivations[0]?.text.trimEnd()}\n`)
  assert.match(
    await table('summary'),
    /^3 records\n\nfield +values +empty +distinct +range or most frequent\nid +3 +0 +3\n/,
  )
  assert.equal(await table('count'), '3\n')
  const unknown = await run('derivations', 'rates.yaml')
  assert.deepEqual(
    [unknown.code, unknown.stderr],
    [1, 'error: no derivation "rates.yaml"; there are rate.yaml\n'],
  )
})

test('list binds values to the placeholders of its filter, as query does', async (t) => {
  const { run } = await open(t)
  const list = (...args: readonly string[]): Promise<Ran> => run('list', '--fields', 'id', ...args)
  const ids = async (...args: readonly string[]): Promise<string[]> =>
    (json(await list(...args)) as { records: { id: string }[] }).records.map(({ id }) => id)
  assert.deepEqual(
    await ids('--filter', 'price >= ? AND title <> ?', '--param', '1.5', '--param', "O'Hara"),
    ['a', 'b'],
  )
  assert.deepEqual(await ids('--filter', 'id = ?', '--param', 'null', '--json'), [])
  const wrong = await list('--filter', 'id = ?')
  assert.deepEqual(
    [wrong.code, wrong.stderr],
    [1, 'error: placeholders in the filter: 1, values in params: 0\n'],
  )
  assert.match((await list('--param', '1')).stderr, /^error: values for placeholders: 1, but no filter/)
  const both = await list('--json', '--format', 'table')
  assert.equal(both.code, 2)
  assert.match(both.stderr, /'--json' cannot be used with option '--format/)
})

test('proposals are listed, shown, accepted and rejected', async (t) => {
  const { sheet, run } = await open(t)
  const opened = await openSheet(sheet)
  const proposed = (change: ProposedChange): Promise<unknown> =>
    propose(opened, { change, actor: 'agent:writer', note: null })
  await proposed({ records: [{ id: 'a', title: 'Apricot' }] })
  await proposed({ ids: ['b'] })
  await opened.close()
  const list = json(await run('proposals', '--state', 'waiting', '--limit', '1')) as ProposalListAnswer
  assert.deepEqual([list.proposals.map(({ id }) => id), list.waiting], [['2'], 2])
  assert.notEqual(list.next_cursor, null)
  const { records } = json(await run('proposals', '1')) as ProposalAnswer
  assert.deepEqual(records[0]?.fields, [
    { field: 'title', was: 'Apple', now: 'Apple', proposed: 'Apricot', moved: false, decision: null },
  ])
  const shown = await run('proposals', '1', '--format', 'table')
  assert.match(shown.stdout, /record +change +field +now +proposed .*\na +update +title +Apple +Apricot\n$/)

  const own = await run('proposals', '1', '--accept', '--actor', 'agent:writer')
  assert.equal(own.code, 1)
  const accepted = json(await run('proposals', '1', '--accept', '--actor', 'human:ann')) as ProposalSummary
  assert.deepEqual([accepted.state, accepted.decided_by], ['accepted', 'human:ann'])
  assert.deepEqual(json(await run('get', 'a', '--fields', 'title')), { title: 'Apricot' })
  const reject = ['proposals', '2', '--reject', '--reason', 'In use', '--actor', 'human:ann'] as const
  assert.equal(
    (await run(...reject, '--format', 'table')).stdout,
    'Proposal 2 rejected: delete of 1 record\n',
  )
  assert.match((await run(...reject)).stderr, /^error: [^\n]*rejected[^\n]*\n$/)
  assert.equal((await run('proposals', '2', '--accept')).code, 2, 'nobody is guessed')
  assert.equal((await run('proposals', '--accept', '--actor', 'a')).code, 2)
})

test('parts of a proposal are decided by record and field, and the others wait', async (t) => {
  const { sheet, run } = await open(t)
  const opened = await openSheet(sheet)
  const records = [
    { id: 'a', title: 'Apricot', price: 7 },
    { id: 'b', title: 'Blackberry' },
  ]
  await propose(opened, { change: { records }, actor: 'agent:writer', note: null })
  await opened.close()
  const decide = (...args: string[]) =>
    run('proposals', '1', ...args, '--actor', 'human:ann', '--format', 'table')
  assert.equal((await run('proposals', '1', '--ids', 'a')).code, 2)
  assert.match(
    (await decide('--accept', '--fields', 'tags')).stderr,
    /of proposal 1, none of these fields wait/,
  )
  assert.match((await decide('--accept', '--ids', 'c')).stderr, /proposal 1 has no record "c"/)
  assert.equal(
    (await decide('--accept', '--fields', 'price')).stdout,
    'Proposal 1: a part of 1 record accepted; the others wait\n',
  )
  const { price, title } = json(await run('get', 'a')) as { price: number; title: string }
  assert.deepEqual([price, title], [7, 'Apple'])
  await decide('--reject', '--ids', 'a')
  assert.equal((await decide('--accept')).stdout, 'Proposal 1 accepted: upsert of 2 records\n')
  const shown = json(await run('proposals', '1')) as ProposalAnswer
  assert.deepEqual(
    shown.records.map(({ fields }) => fields.map(({ field, decision }) => [field, decision])),
    [
      [
        ['title', 'rejected'],
        ['price', 'accepted'],
      ],
      [['title', 'accepted']],
    ],
  )
})

test('query reads parameters as JSON or else as text, and a statement from standard input', async (t) => {
  const { sheet, run } = await open(t)
  const rows = await run(
    'query',
    'SELECT id FROM records WHERE price > ? AND currency = ?',
    '--param',
    '1e0',
    '--param',
    'EUR',
  )
  assert.deepEqual(json(rows), { rows: [{ id: 'a' }], count: 1 })
  const types = await run('query', 'SELECT typeof(?) AS a, typeof(?) AS b', '--param', '1', '--param', '"1"')
  assert.deepEqual((json(types) as { rows: unknown[] }).rows, [{ a: 'integer', b: 'text' }])
  const read = await runCommand(['query', sheet, '-', '--format', 'ndjson'], input('SELECT id FROM records'))
  assert.equal(read.stdout, '{"id":"a"}\n{"id":"b"}\n{"id":"c"}\n')
  const cut = await run('query', 'SELECT id FROM records', '--query-rows', '2', '--format', 'ndjson')
  assert.equal(cut.stdout, '{"id":"a"}\n{"id":"b"}\n')
  assert.match(cut.stderr, /^Only the first 2 rows; --query-rows allows more\.\n$/)
})

test('materialize runs in a pipe without a question, exits with 3 for failed cells, and its run can be read', async (t) => {
  const { stub, run } = await open(t)
  const plan = json(await run('materialize', '--dry-run', '--stub', stub)) as { calls: number }
  assert.equal(plan.calls, 3)
  const { code, stdout, stderr } = await run('materialize', '--stub', stub, '--actor', 'agent:nightly')
  assert.equal(code, 3, stderr)
  const failure = {
    record_id: 'c',
    field: 'rate',
    error: 'GET https://rates.example/XXX -> no stub response',
    error_type: 'ServiceError',
  }
  assert.deepEqual(JSON.parse(stdout), { materialized: 2, skipped: 0, failures: [failure], total_cost: 0 })
  const [status, cell, entry, history, runs, one, failures] = await Promise.all([
    run('status'),
    run('status', 'c', 'rate'),
    run('provenance', 'a', 'rate'),
    run('provenance', 'a', 'rate', '--history', '--format', 'ndjson'),
    run('runs'),
    run('runs', '1'),
    run('runs', '1', '--failures'),
  ])
  const ofRecord = json(await run('provenance', 'a')) as { field: string }[]
  assert.deepEqual([ofRecord[0]?.field, ofRecord.at(-1)?.field], ['id', 'rate'])
  assert.partialDeepStrictEqual(json(status), { rate: { fresh: 2, failed: 1, total_records: 3 } })
  assert.partialDeepStrictEqual(json(cell), { state: 'failed' })
  assert.partialDeepStrictEqual(json(entry), { actor: 'agent:nightly', value: 1, run_id: '1' })
  assert.partialDeepStrictEqual(JSON.parse(history.stdout), { value: 1, previous: null })
  assert.partialDeepStrictEqual(json(runs), { runs: [{ id: '1', failed: 1 }], next_cursor: null })
  assert.partialDeepStrictEqual(json(one), { id: '1', state: 'finished', record_ids: null })
  assert.partialDeepStrictEqual(json(failures), { failures: [{ record_id: 'c' }], next_cursor: null })
  const written = ['--by', 'agent:*', '--by-run', '1', '--where', '{"field":"id","operator":"not_empty"}']
  const listed = await run('list', '--fields', 'id', '--format', 'ndjson', ...written)
  assert.equal(listed.stdout, '{"id":"a"}\n{"id":"b"}\n', listed.stderr)
  assert.partialDeepStrictEqual(json(await run('list', '--by', 'human:nobody')), { records: [] })
  const reverted = await run('revert', '--run', '1', '--actor', 'human:ann')
  assert.deepEqual(json(reverted), { reverted: 2, conflicts: [], run_id: '2' })
})

test('materialize accepts targets, ids, states and bounds', async (t) => {
  const { stub, run } = await open(t)
  const some = await run(
    'materialize',
    '--stub',
    stub,
    '--actor',
    'a',
    '--target',
    'rate',
    '--ids',
    'a,c',
    '--max-calls',
    '1',
  )
  assert.partialDeepStrictEqual(json(some), { materialized: 1, skipped: 1, failures: [] })
  const missing = await run(
    'materialize',
    '--stub',
    stub,
    '--actor',
    'a',
    '--only',
    'missing',
    '--limit',
    '1',
    '--max-cost',
    '$1.50',
  )
  assert.partialDeepStrictEqual(json(missing), { materialized: 1 })
  const offline = await run('materialize', '--offline', '--force', '--ids', 'a', '--actor', 'a')
  assert.equal(offline.code, 3)
  assert.match(offline.stdout, /refused/)
})

test('D28: materialize --force keeps manual values, and reports how many --overwrite-manual overwrites', async (t) => {
  const contract = OFFERS.contract.replace(
    '{name: rate, logicalType: number}',
    "{name: rate, logicalType: number, x-editable-by: ['human:*']}",
  )
  const [corrected, ...others] = OFFERS.records
  const { stub, run } = await open(t, { contract, records: [{ ...corrected, rate: 5 }, ...others] })
  const force = ['--stub', stub, '--ids', 'a,b', '--force', '--format', 'table']
  const ann = ['--actor', 'human:ann', ...force]
  const kept = await run('materialize', ...ann, '--dry-run')
  assert.match(kept.stdout, /manual kept\nrate +1 +0 +1 +1\n/)
  assert.match(kept.stdout, /Keeps 1 manual value \(--overwrite-manual recomputes them too\)/)
  assert.match((await run('materialize', ...ann)).stdout, /1 cell computed, 1 skipped, .*1 manual value kept/)
  const lost = await run('materialize', ...ann, '--overwrite-manual', '--dry-run')
  assert.match(lost.stdout, /manual lost\nrate +2 +0 +0 +.*1\n/)
  assert.match(lost.stdout, /Overwrites 1 manual value\n?/)
  const refused = await run('materialize', '--actor', 'agent:a', ...force, '--overwrite-manual')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /actor "agent:a" may not overwrite "rate" \(1 written by hand/)
  const done = await run('materialize', ...ann, '--overwrite-manual')
  assert.match(done.stdout, /2 cells computed, 0 skipped, .*1 manual value overwritten/)

  const without = await run('materialize', '--actor', 'human:ann', '--overwrite-manual')
  assert.equal(without.code, 2)
  assert.match(without.stderr, /--overwrite-manual requires --force/)
})

test('revert restores the value of one cell', async (t) => {
  const { sheet, run } = await open(t)
  await runCommand(['upsert', sheet], input('{"id":"a","title":"Avocado"}'))
  const { seq } = json(await run('provenance', 'a', 'title')) as { seq: number }
  const reverted = await run(
    'revert',
    '--record',
    'a',
    '--field',
    'title',
    '--seq',
    String(seq),
    '--actor',
    'human:ann',
  )
  assert.deepEqual(json(reverted), { reverted: 1, conflicts: [], run_id: null })
  assert.deepEqual(json(await run('get', 'a', '--fields', 'title')), { title: 'Apple' })
})

test('revert restores deleted records, by their ids or by the entry of a deletion', async (t) => {
  const { sheet, run } = await open(t)
  await run('delete', 'a', 'b', '--actor', 'human:ann')
  const { code, stderr } = await run('revert', '--ids', 'a,c', '--actor', 'human:ann')
  assert.deepEqual(
    [code, stderr],
    [1, 'error: record "c" exists; nothing was restored, since restoring never overwrites a record\n'],
  )
  const restored = await runCommand(['revert', sheet, '--ids', '-'], input('b\na\n'))
  assert.deepEqual(json(restored), { reverted: 2, conflicts: [], run_id: null })
  const removed = await run('delete', 'a', '--actor', 'human:ann', '--format', 'table')
  assert.equal(removed.stdout, `1 record deleted, 2 remain\nUndo: colophon revert ${sheet} --ids a\n`)
  const history = json(await run('provenance', 'a', 'title', '--history')) as { seq: number }[]
  const seq = String(history.at(-1)?.seq)
  const one = await run('revert', '--record', 'a', '--seq', seq, '--actor', 'human:ann', '--format', 'table')
  assert.equal(one.stdout, '1 record restored\n')
  const nothing = await run('revert', '--record', 'a', '--actor', 'human:ann')
  assert.equal(nothing.code, 2)
  assert.match(
    nothing.stderr,
    /^error: nothing is selected to revert; give --run, .* or --ids of deleted records\n/,
  )
})

test('validate reports an error in each file with its position, and creates nothing', async (t) => {
  const { sheet, run } = await open(t)
  assert.deepEqual(json(await run('validate', '--records')), { faults: [], valid: true })
  await writeFile(join(sheet, 'transport.yaml'), 'hosts:\n  "*":\n    concurrency: none\n')
  await writeFile(join(sheet, 'derivations', 'rate.yaml'), 'targets: [rates]\ninputs: []\nkind: http\n')
  const { code, stdout } = await run('validate', '--format', 'table')
  assert.equal(code, 1)
  assert.deepEqual(
    stdout.split('\n').map((line) => line.replace(/^(\S+:\d+): .*$/, '$1')),
    [join(sheet, 'derivations/rate.yaml:1'), join(sheet, 'transport.yaml:3'), ''],
  )
  assert.ok(!existsSync(join(sheet, 'sheet.db')))
})

test('verify says what holds, what differs, and what no checkpoint of others covers', async (t) => {
  const { sheet, run } = await open(t)
  const made = await run('checkpoint')
  const kept = join(sheet, 'kept.txt')
  await writeFile(kept, made.stdout)
  const verified = json(await run('verify', '--checkpoint', kept))
  assert.deepEqual(verified, {
    holds: true,
    lines: 1,
    last_seq: 1,
    earlier_lines: 0,
    records: 3,
    differences: { count: 0, listed: [] },
    checkpoints: { own: 1, outside: 1, covered: { outside: 1, signed: null, own: 1 }, unsigned: [] },
    not_covered: { lines: 0, converted_cells: 0, erased_lines: 0, imported: null },
  })
  await writeFile(join(sheet, 'records.jsonl'), '')
  const { code, stdout } = await run('verify', '--format', 'table')
  assert.equal(code, 0)
  assert.match(stdout, /^✔ 1 line of the log, and 3 records: no difference\n/)
  assert.match(stdout, /\nnot covered: all 1 line, which can have been changed together with the records\n/)
  assert.match(stdout, /\nnot covered: 18 values of 3 records that no line has changed since the import;/)
  const db = new DatabaseSync(join(sheet, 'sheet.db'))
  db.exec(`DELETE FROM "$data" WHERE id = 'b'`)
  db.close()
  const differs = await run('verify', '--format', 'table')
  assert.equal(differs.code, 1)
  assert.match(
    differs.stdout,
    /^✘ 1 difference\n {2}line 1: imported 3 records that no other line names, and there are 2\n/,
  )
})

test('validate --records reports every error of records.jsonl, and of the store', async (t) => {
  const lines = [
    '{"id":"a","title":"Apple"}',
    '{"id":"b","title":3,"price":"x"}',
    '',
    '{"id":"a","title":"Again"}',
    'nonsense',
    '{"id":"c","title":"Corn","colour":1}',
    '[]',
  ]
  const { sheet, run } = await open(t)
  await writeFile(join(sheet, 'records.jsonl'), lines.join('\n'))
  const { code, stdout } = await run('validate', '--records', '--format', 'ndjson')
  assert.equal(code, 1)
  const faults = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { file: string; line: number; message: string })
  assert.deepEqual(new Set(faults.map(({ file }) => file)), new Set(['records.jsonl']))
  assert.deepEqual(
    faults.map(({ line, message }) => `${line} ${message.slice(0, 20)}`),
    [
      '2 field "title": 3 is ',
      '2 field "price": "x" i',
      '4 field "id": must be ',
      '5 not JSON: Unexpected',
      '6 field "colour": the ',
      '7 a line must be a JSO',
    ],
  )
  await writeFile(join(sheet, 'records.jsonl'), '{"id":"a","title":"Apple"}\n')
  await run('list')
  const tight = (await readFile(join(sheet, 'contract.yaml'), 'utf8')).replace(
    '{name: title, logicalType: string,',
    '{name: title, logicalType: string, logicalTypeOptions: {maxLength: 2},',
  )
  await writeFile(join(sheet, 'contract.yaml'), tight)
  const stored = await run('validate', '--records')
  assert.equal(stored.code, 1)
  assert.match(stored.stdout, /"contract\.yaml".*does not fit the stored records.*\\"Apple\\"/)
})

test('an invalid derivation file is reported beside a result that does not need it, and once if it does', async (t) => {
  const { run } = await open(t, { derivations: { 'rate.yaml': 'targets: 1\n' } })
  const fine = await run('get', 'a', '--fields', 'id')
  assert.deepEqual([fine.code, fine.stdout], [0, '{"id":"a"}\n'])
  assert.match(fine.stderr, /^error: derivations\/rate\.yaml:1: [^\n]*\n$/)
  const broken = await run('status')
  assert.deepEqual([broken.code, broken.stdout], [1, ''])
  assert.match(broken.stderr, /^error: derivations\/rate\.yaml:1: [^\n]*\n$/)
})

test('every command has help with examples, printed without opening a sheet', async () => {
  const { stdout } = await runCommand(['--help'])
  const names = [...stdout.matchAll(/^ {2}([a-z]+) (?:\[|<)/gm)].map(([, name = '']) => name)
  assert.ok(names.length >= 13, stdout)
  await Promise.all(
    names.map(async (name) => {
      const help = await runCommand([name, '--help'])
      assert.equal(help.code, 0)
      assert.equal(help.stderr, '')
      if (name !== 'serve') assert.match(help.stdout, /\nExamples:\n {2}# /, name)
    }),
  )
})

test('runs prune removes ended runs, and first shows how many', async (t) => {
  const { sheet, stub, run } = await open(t)
  for (let count = 0; count < 3; count += 1) await run('materialize', '--actor', 'agent:test', '--stub', stub)
  const prune = (...args: string[]): Promise<Ran> => runCommand(['runs', 'prune', sheet, ...args])
  assert.partialDeepStrictEqual(json(await prune('--keep', '1', '--dry-run')), { runs: 2, dry_run: true })
  assert.partialDeepStrictEqual(json(await prune('--keep', '1', '--older-than', '1d')), { runs: 0 })
  assert.match(
    (await prune('--keep', '1', '--format', 'table')).stdout,
    /^2 runs(?: with \d+ failures?)? removed\n$/,
  )
  const { runs } = json(await run('runs')) as { runs: { id: string }[] }
  assert.deepEqual(
    runs.map(({ id }) => id),
    ['3'],
  )
  const { code, stderr } = await prune()
  assert.deepEqual([code, /--older-than/.test(stderr)], [2, true])
})

test('an edited derivation is computed from kept responses, which cache shows and removes', async (t) => {
  const { sheet, stub, run } = await open(t)
  const actor = ['--actor', 'agent:test', '--stub', stub]
  const computed = (ran: Ran): unknown => (JSON.parse(ran.stdout) as { materialized: number }).materialized
  assert.equal(computed(await run('materialize', ...actor)), 2)
  const shown = json(await run('cache')) as { responses: number; bytes: number; recorded_bytes: number }
  assert.ok(shown.responses > 0 && shown.bytes > 0 && shown.recorded_bytes > 0)
  const [file = ''] = await readdir(join(sheet, 'derivations'))
  await appendFile(join(sheet, 'derivations', file), '# edited\n')
  const plan = await run('materialize', ...actor, '--dry-run', '--format', 'table')
  assert.match(plan.stdout, /kept responses/)
  assert.match(plan.stdout, /3 calls, cost not set\nWith --reuse-responses: 1 call, cost not set\n/)
  // Nothing is there to be called.
  const again = await run('materialize', '--actor', 'agent:test', '--offline', '--reuse-responses')
  assert.equal(computed(again), 2)
  const removed = json(await run('cache', '--trim', '0', '--max-size', '1.5MiB'))
  assert.deepEqual(removed, {
    responses: 0,
    bytes: 0,
    max_bytes: 1.5 * 1024 * 1024,
    recorded_bytes: 0,
    oldest: null,
    newest: null,
    removed: shown.responses,
    removed_bytes: shown.bytes,
  })
  const { code, stderr } = await run('cache', '--older-than', 'long')
  assert.equal(code, 2)
  assert.match(stderr, /such as 30d/)
})

test('deleted records are listed with their last values, and restored by their ids', async (t) => {
  const { run } = await open(t)
  const as = ['--actor', 'human:ann'] as const
  await run('delete', 'a', '--yes', ...as)
  const { records } = json(await run('deleted')) as DeletedAnswer
  assert.deepEqual(
    records.map(({ record_id: id, actor, exists, values }) => [id, actor, exists, values['title']]),
    [['a', 'human:ann', false, 'Apple']],
  )
  assert.match((await run('deleted', '--format', 'table')).stdout, /record +deleted +by .*\na +.* human:ann /)
  assert.equal((await run('revert', '--ids', 'a', ...as, '--format', 'table')).stdout, '1 record restored\n')
  assert.match(
    (await run('revert', '--ids', 'a', ...as)).stderr,
    /^error: record "a" exists; nothing was restored/,
  )
  assert.deepEqual(json(await run('deleted')), { records: [], next_cursor: null })
})
