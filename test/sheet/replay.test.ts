import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { replayArchive, type ReplayRequest } from '../../src/sheet/replay/replay-archive.ts'
import { isAsRecorded, type ReplayReport } from '../../src/sheet/replay/replay-report.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { exportArchive } from '../../src/sheet/transfer/export-archive.ts'
import { GOOD, openAiSheet } from '../support/ai-fixture.ts'
import { skipOnPostgres } from '../support/engine.ts'
import { allBytes, scratch } from '../support/init-files.ts'
import { unconfinable } from '../support/script-hosts.ts'
import { answerLookups, lookup, openLookupSheet, openRunSheet } from '../support/run-fixture.ts'

/** Exports a sheet with its recording, and returns a function that replays the archive. */
async function archived(
  t: TestContext,
  sheet: Sheet,
): Promise<(changes?: Partial<ReplayRequest>) => Promise<ReplayReport>> {
  const path = join(await scratch(t), 'sheet.zip')
  await writeFile(path, await allBytes(exportArchive(sheet, { recording: { onWritten: () => undefined } })))
  return (changes = {}) =>
    replayArchive({
      file: { path, name: 'sheet.zip' },
      maxBytes: 1 << 30,
      replacements: null,
      scripts: 'off',
      signal: new AbortController().signal,
      ...changes,
    })
}

/** A directory with a changed derivation. */
async function withDerivation(t: TestContext, file: string, text: string): Promise<string> {
  const directory = await scratch(t)
  await mkdir(join(directory, 'derivations'))
  await writeFile(join(directory, 'derivations', file), text)
  return directory
}

const NONE = { count: 0, first: [] }

test('an archive is replayed without its host: values, failures, provenance and costs are those of its runs', async (t) => {
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string', 'd: string'],
    records: ['x', 'y', 'x', 'no', 'late'].map((a, index) => ({ id: `${index + 1}`, a })),
    derivations: (url) => ({
      'b.yaml': lookup(url, 'b', 'a'),
      'c.yaml': lookup(url, 'c', 'b'),
      'd.yaml': { targets: ['d'], kind: 'sql', expression: "c || '!'" },
    }),
  })
  await run.edit('transport.yaml', `hosts:\n  ${run.api.host}:\n    retries: 1\n    cost_per_call: 0.25\n`)
  answerLookups(run.api)
  let version = 0
  let late = 0
  run.api.answer('/b/y', () => ({ json: { value: `y${++version}` } }))
  run.api.answer('/b/no', { status: 404, json: { error: 'no' } })
  run.api.answer('/b/late', () => (++late === 1 ? { status: 503, json: {} } : { json: { value: 'L' } }))
  await run.run()
  // Another answer to an equal request, and with it other requests of the next level.
  await run.run({ force: true, recordIds: ['2'] })
  await run.api.close()
  const replay = await archived(t, run.sheet)
  const report = await replay()
  assert.deepEqual(
    { ...report, digest: '' },
    {
      runs: 2,
      cells: 13,
      equal: 13,
      differentCosts: NONE,
      calls: 7,
      totalCost: 1.75,
      missed: NONE,
      notComputed: NONE,
      different: NONE,
      differentRuns: [],
      leftOut: [],
      digest: '',
    },
  )
  assert.deepEqual(await replay(), report)
})

test('one changed character of a template: exactly its cells miss, each with the first difference', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string', 'c: string', 'd: string'],
    records: ['x', 'y'].map((a) => ({ id: a, a })),
    derivations: (url) => ({
      'b.yaml': lookup(url, 'b', 'a'),
      'c.yaml': lookup(url, 'c', 'a'),
      'd.yaml': { targets: ['d'], kind: 'sql', expression: "c || '!'" },
    }),
  })
  answerLookups(run.api)
  await run.run()
  const replay = await archived(t, run.sheet)
  const text = await readFile(join(run.directory, 'derivations/b.yaml'), 'utf8')
  const changed = await withDerivation(t, 'b.yaml', text.replace('/b/{{', '/B/{{'))
  const report = await replay({ replacements: changed })
  const { url } = run.api
  const at = url.length + 2
  const error = (of: string): string =>
    `GET ${url}/B/${of} -> not in the recording; the nearest request is that of record "${of}" in run 1: ` +
    `the URL differs at character ${at}: "B/${of}", recorded "b/${of}"`
  assert.deepEqual(report.missed, {
    count: 2,
    first: ['x', 'y'].map((id) => ({ recordId: id, field: 'b', error: error(id) })),
  })
  assert.deepEqual([report.cells, report.equal, report.different, report.notComputed], [6, 4, NONE, NONE])
  const dependent = await withDerivation(t, 'c.yaml', text.replace('"b"', '"c"').replace('/b/{{', '/C/{{'))
  const other = await replay({ replacements: dependent })
  assert.deepEqual([other.missed.count, other.notComputed.count, other.equal], [2, 2, 2])
  // The request is the same; its response is read otherwise.
  const read = await withDerivation(t, 'b.yaml', text.replace('"value"', '"other"'))
  const { different } = await replay({ replacements: read })
  assert.deepEqual(
    different.first.map(({ recordId, field, what, recorded }) => [recordId, field, what, recorded]),
    ['x', 'y'].map((id) => [id, 'b', 'state', 'fresh']),
  )
})

test('cells that cannot be replayed are left out with the reason, and keep their values for others', async (t) => {
  const run = await openRunSheet(t, {
    properties: [
      'a: string',
      '{name: b, logicalType: string, x-writers: ["user:*", "agent:*"]}',
      'c: string',
    ],
    records: ['x', 'y', 'z', 'no'].map((a) => ({ id: a, a })),
    derivations: (url) => ({ 'b.yaml': lookup(url, 'b', 'a'), 'c.yaml': lookup(url, 'c', 'b') }),
  })
  answerLookups(run.api)
  run.api.answer('/b/no', { status: 404, json: {} })
  await run.run()
  await run.write({ id: 'z', a: 'changed' }, { id: 'no', a: 'other' })
  await run.write({ id: 'gone', a: 'gone' })
  await run.run({ recordIds: ['gone'] })
  await run.delete('gone')
  const replay = await archived(t, run.sheet)
  const report = await replay()
  assert.deepEqual(
    report.leftOut.map(({ reason, count, first }) => [reason, count, first.map(({ recordId }) => recordId)]),
    [
      ['stale: its inputs or its derivation changed since it was computed', 1, ['z']],
      ['failed before one of its inputs was written', 1, ['no']],
    ],
  )
  assert.deepEqual([report.cells, report.equal, report.missed, report.different], [5, 5, NONE, NONE])
})

test('failed cells are left out if the definition changed after their failure', async (t) => {
  const run = await openRunSheet(t, {
    properties: [
      'a: string',
      'b: string',
      'c: string',
      'd: integer',
      '{name: e, logicalType: string, logicalTypeOptions: {maxLength: 1}}',
    ],
    records: [{ id: '1', a: 'x' }],
    derivations: (url) => ({
      'b.yaml': lookup(url, 'b', 'a'),
      'c.yaml': lookup(url, 'c', 'a'),
      'd.yaml': {
        targets: ['d'],
        kind: 'import',
        source: 'names.csv',
        key_field: 'code',
        match: 'a',
        value_field: 'name',
      },
      'e.yaml': lookup(url, 'e', 'a'),
    }),
  })
  await run.edit('names.csv', 'code,name\nx,Ex\n')
  await run.edit('transport.yaml', `hosts:\n  ${run.api.host}:\n    retries: 0\n`)
  run.api.answer('/b/x', { status: 404, json: {} })
  run.api.answer('/c/x', { status: 500, json: {} })
  run.api.answer('/e/x', { json: { value: 'yy' } })
  const { failures } = await run.run()
  assert.equal(failures.length, 4)
  const fieldsOf = async (): Promise<unknown> => {
    const { leftOut, different, missed, equal } = await (await archived(t, run.sheet))()
    assert.deepEqual([different, missed], [NONE, NONE])
    const fields = leftOut.map(({ reason, first }) => [reason, first.map(({ field }) => field)])
    return { equal, leftOut: Object.fromEntries(fields) as unknown }
  }
  assert.deepEqual(await fieldsOf(), { equal: 4, leftOut: {} })
  const reason = 'failed before its derivation, a file that this reads, or the contract changed'
  const readOtherwise = (text: string): string => text.replace('"value"', '"other"')
  await run.edit('derivations/b.yaml', readOtherwise)
  await run.edit('derivations/c.yaml', readOtherwise)
  await run.edit('names.csv', 'code,name\nx,5\n')
  assert.deepEqual(await fieldsOf(), { equal: 1, leftOut: { [reason]: ['b', 'c', 'd'] } })
  await run.edit('contract.yaml', (text) => text.replace('maxLength: 1', 'maxLength: 2'))
  assert.deepEqual(await fieldsOf(), { equal: 0, leftOut: { [reason]: ['b', 'c', 'd', 'e'] } })
})

test('a conversation with a model is replayed with its usage and cost, without its key', async (t) => {
  process.env['MODEL_KEY_OF_REPLAY'] = 'secret-of-the-model'
  t.after(() => delete process.env['MODEL_KEY_OF_REPLAY'])
  let answers = 0
  const { run } = await openAiSheet(t, {
    companies: ['Acme', 'Bolt', 'Acme'],
    answer: () => (++answers === 1 ? { json: { industry: 'Unknown', staff: 12 } } : GOOD),
    entry: { headers: { Authorization: 'Bearer {{ env.MODEL_KEY_OF_REPLAY }}' } },
    key: 'secret-of-the-model',
  })
  const { totalCost } = await run.run()
  delete process.env['MODEL_KEY_OF_REPLAY']
  const replay = await archived(t, run.sheet)
  const report = await replay()
  assert.deepEqual([report.cells, report.equal, report.calls], [6, 6, 3])
  assert.ok(totalCost > 0)
  assert.equal(report.totalCost, Math.round(totalCost * 1e9) / 1e9)
})

test('costs by prices that changed since are reported, and are no differences of the cells', async (t) => {
  if (skipOnPostgres(t)) return
  const { run, models } = await openAiSheet(t, { companies: ['Acme', 'Bolt'] })
  const { totalCost } = await run.run()
  const price = { input: 0.3, cached_input: 0.15, output: 1.2 }
  await run.edit('models.yaml', models({ price }))
  const report = await (await archived(t, run.sheet))()
  assert.deepEqual([report.cells, report.equal, report.different], [4, 4, NONE])
  const { count, first } = report.differentCosts
  assert.deepEqual([count, ...new Set(first.map(({ what }) => what))], [4, 'cost'])
  for (const { replayed, recorded } of first) assert.equal(Number(replayed), 2 * Number(recorded))
  assert.deepEqual(
    report.differentRuns.map(({ what, recorded }) => [what, recorded]),
    [['total_cost', totalCost]],
  )
  assert.equal(isAsRecorded(report), true)
  assert.equal(isAsRecorded({ ...report, equal: 3 }), false)
})

test('the steps of fallbacks are replayed, and a changed step misses', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string'],
    records: ['x', 'y', 'x', 'none'].map((a, index) => ({ id: `${index}`, a })),
    derivations: (url) => ({
      'b.yaml': {
        targets: ['b'],
        kind: 'first',
        steps: ['one', 'two'].map((of) => ({
          kind: 'http',
          url: `${url}/${of}/{{ a }}`,
          response_path: 'value',
        })),
      },
    }),
  })
  for (const path of ['/one/x', '/two/y']) run.api.answer(path, { json: { value: path } })
  await run.run()
  await run.run({ recordIds: ['3'] })
  const replay = await archived(t, run.sheet)
  const report = await replay()
  assert.deepEqual([report.cells, report.equal, report.different, report.differentRuns], [4, 4, NONE, []])
  const text = await readFile(join(run.directory, 'derivations/b.yaml'), 'utf8')
  const changed = await withDerivation(t, 'b.yaml', text.replace('/two/{{', '/too/{{'))
  const { missed, equal } = await replay({ replacements: changed })
  assert.deepEqual(
    missed.first.map(({ recordId }) => recordId),
    ['1', '3'],
  )
  assert.equal(equal, 2)
})

test('scripts run again only with permission, and look-ups read the tables of the archive', async (t) => {
  if (skipOnPostgres(t)) return
  process.env['KEY_OF_SCRIPT'] = 'k'
  t.after(() => delete process.env['KEY_OF_SCRIPT'])
  const run = await openRunSheet(
    t,
    {
      properties: ['a: string', 'b: string', 'c: string', 'd: string', 'e: string'],
      records: [
        { id: '1', a: 'x' },
        { id: '2', a: 'y' },
      ],
      derivations: (url) => ({
        'b.yaml': { targets: ['b'], inputs: ['a'], kind: 'script', script: 'double' },
        'e.yaml': {
          targets: ['e'],
          inputs: ['a'],
          kind: 'first',
          steps: [
            { kind: 'http', url: `${url}/e/{{ a }}`, response_path: 'value' },
            { kind: 'script', script: 'keyed', env: ['KEY_OF_SCRIPT'] },
          ],
        },
        'c.yaml': lookup(url, 'c', 'b'),
        'd.yaml': {
          targets: ['d'],
          kind: 'import',
          source: 'names.csv',
          key_field: 'code',
          match: 'a',
          value_field: 'name',
        },
      }),
    },
    { scripts: 'unconfined' },
  )
  await mkdir(join(run.directory, 'scripts'))
  await run.edit('scripts/double.mjs', 'const { a } = JSON.parse(process.argv[3])\nconsole.log(a + a)\n')
  await run.edit('scripts/keyed.mjs', 'console.log(process.env.KEY_OF_SCRIPT)\n')
  await run.edit('names.csv', 'code,name\nx,Ex\ny,Why\n')
  answerLookups(run.api)
  run.api.answer('/e/x', { json: { value: null } })
  await run.run()
  assert.deepEqual(await run.record('1'), { id: '1', a: 'x', b: 'xx', c: '<xx>', d: 'Ex', e: 'k' })
  assert.equal(await run.value('2', 'e'), '<y>')
  const replay = await archived(t, run.sheet)
  const report = await replay()
  assert.deepEqual(
    report.leftOut.map(({ reason, count }) => [/allow-scripts/.test(reason), count]),
    [[true, 3]],
  )
  assert.deepEqual([report.cells, report.equal], [5, 5])
  if (unconfinable !== false) return t.diagnostic(unconfinable)
  const all = await replay({ scripts: 'confined' })
  assert.deepEqual([all.cells, all.equal, all.different], [7, 7, NONE])
  assert.deepEqual(
    all.leftOut.map(({ reason, first }) => [reason, first]),
    [
      [
        'e.yaml has a script with env, whose values are not in the recording',
        [{ recordId: '1', field: 'e' }],
      ],
    ],
  )
})

test('calls and costs of whole runs are compared', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookupSheet(
    t,
    ['x', 'y', 'x'].map((a, index) => ({ id: `${index}`, a })),
  )
  const price = (dollars: number): string => `hosts:\n  ${run.api.host}:\n    cost_per_call: ${dollars}\n`
  await run.edit('transport.yaml', price(0.1))
  await run.run()
  const replay = await archived(t, run.sheet)
  assert.deepEqual((await replay()).differentRuns, [])
  const dearer = await scratch(t)
  await writeFile(join(dearer, 'transport.yaml'), price(0.3))
  const report = await replay({ replacements: dearer })
  const { differentRuns, equal } = report
  assert.deepEqual(differentRuns, [{ run: '1', what: 'total_cost', replayed: 0.6, recorded: 0.2 }])
  assert.equal(equal, 3)
  assert.equal(isAsRecorded(report), true)
  const unreadable = await scratch(t)
  await mkdir(join(unreadable, 'models.yaml'))
  await assert.rejects(replay({ replacements: unreadable }), {
    message: `${join(unreadable, 'models.yaml')} is a directory; name a file in it`,
  })
  // What is not in the recording is not sent, and costs nothing.
  const text = await readFile(join(run.directory, 'derivations/b.yaml'), 'utf8')
  const missed = await replay({
    replacements: await withDerivation(t, 'b.yaml', text.replace('/b/', '/B/')),
  })
  assert.deepEqual([missed.missed.count, missed.calls, missed.totalCost], [3, 0, 0])
})

test('an archive without a recording is refused', async (t) => {
  if (skipOnPostgres(t)) return
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  const path = join(await scratch(t), 'sheet.zip')
  await writeFile(path, await allBytes(exportArchive(run.sheet)))
  await assert.rejects(
    replayArchive({
      file: { path, name: 'sheet.zip' },
      maxBytes: 1 << 30,
      replacements: null,
      scripts: 'off',
      signal: new AbortController().signal,
    }),
    { message: 'sheet.zip has no recording.jsonl; export it with --format archive --with-recording' },
  )
})
