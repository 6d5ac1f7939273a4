import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { changeKeptResponses } from '../../src/sheet/calls/kept-responses.ts'
import { writeRecording, type WrittenRecording } from '../../src/sheet/recording/write-recording.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { GOOD, openAiSheet } from '../support/ai-fixture.ts'
import { lookup, openLookupSheet, openRunSheet } from '../support/run-fixture.ts'

/** The recording of a sheet, as parsed lines. */
async function recordingOf(
  t: TestContext,
  sheet: Sheet,
): Promise<{ written: WrittenRecording; lines: readonly JsonObject[]; text: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-recording-'))
  t.after(() => rm(directory, { recursive: true }))
  const path = join(directory, 'recording.jsonl')
  const written = await writeRecording(sheet, path)
  const text = await readFile(path, 'utf8')
  const lines = text.split('\n').slice(0, -1)
  return { written, lines: lines.map((line) => JSON.parse(line) as JsonObject), text }
}

/** A line without its time and the duration of its call. */
function stable({ at, response, ...rest }: JsonObject): JsonObject {
  assert.equal(typeof at, 'string')
  if (response === undefined) return rest
  const { duration_ms: duration, ...other } = response as JsonObject
  assert.equal(typeof duration, 'number')
  return { ...rest, response: other }
}

test('each call of a run is recorded with its request, its failed tries, and its response or failure', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'good' },
    { id: '2', a: 'bad' },
    { id: '3', a: 'good' },
  ])
  await run.edit('transport.yaml', `hosts:\n  ${run.api.host}:\n    retries: 1\n    concurrency: 1\n`)
  let tries = 0
  run.api.answer('/b/good', () => {
    tries += 1
    return tries === 1 ? { status: 503, text: 'later' } : { text: '{"value": "ü\\n\\u0000"}' }
  })
  run.api.answer('/b/bad', { status: 404, json: { error: 'unknown' } })
  await run.run()
  const { written, lines } = await recordingOf(t, run.sheet)
  const request = (name: string): JsonObject => ({
    method: 'GET',
    url: `${run.api.url}/b/${name}`,
    headers: {},
    body: null,
  })
  const common = { occurrence: 1, run: '1', derivation: 'b.yaml' }
  assert.deepEqual(
    lines.map(stable).toSorted((one, other) => Number(one['record_id']) - Number(other['record_id'])),
    [
      {
        ...common,
        record_id: '1',
        request: request('good'),
        tries: [{ reason: 'status', status: 503 }],
        response: { status: 200, body: '{"value": "ü\\n\\u0000"}' },
      },
      {
        ...common,
        record_id: '2',
        request: request('bad'),
        tries: [{ reason: 'status', status: 404 }],
        failure: {
          reason: 'status',
          request: `GET ${run.api.url}/b/bad`,
          status: 404,
          responseBody: '{"error":"unknown"}',
        },
      },
    ],
  )
  assert.deepEqual(written, { calls: 2, uncovered: 0, firstUncovered: [] })
})

test('equal requests are numbered, and runs are told apart', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'y' },
  ])
  await run.run()
  await run.run({ force: true, recordIds: ['2'] })
  const { lines } = await recordingOf(t, run.sheet)
  const calls = lines.map(({ occurrence, run: of, record_id: id }) => JSON.stringify([id, of, occurrence]))
  assert.deepEqual(calls.toSorted(compareTexts), ['["1","1",1]', '["2","1",1]', '["2","2",2]'])
})

test('no secret is in a recording, and a response that repeats one is left out of it', async (t) => {
  const secret = 'do-not-record-me'
  process.env['RECORDED_KEY'] = secret
  t.after(() => delete process.env['RECORDED_KEY'])
  const run = await openRunSheet(t, {
    properties: ['a: string', 'b: string'],
    records: [
      { id: '1', a: 'echo' },
      { id: '2', a: 'plain' },
      { id: '3', a: 'fail' },
    ],
    derivations: (url) => ({
      'b.yaml': {
        ...lookup(url, 'b', 'a'),
        method: 'POST',
        headers: { Authorization: 'Bearer {{ env.RECORDED_KEY }}', 'X-Of': '{{ a }}' },
        body_template: { q: '{{ a }}' },
      },
    }),
  })
  run.api.answer('/b/echo', ({ headers }) => ({ json: { value: 'fine', echo: headers.authorization } }))
  run.api.answer('/b/plain', { json: { value: 'plain' } })
  run.api.answer('/b/fail', ({ headers }) => ({ status: 400, json: { echo: headers.authorization } }))
  await run.run()
  assert.equal(await run.value('1', 'b'), 'fine')
  const { written, lines, text } = await recordingOf(t, run.sheet)
  assert.equal(text.includes(secret), false)
  const sent = { Authorization: 'Bearer {{ env.RECORDED_KEY }}', 'X-Of': 'echo' }
  const echo = lines.find(({ record_id: id }) => id === '1') ?? {}
  const request = { method: 'POST', url: `${run.api.url}/b/echo`, headers: sent, body: '{"q":"echo"}' }
  assert.deepEqual(echo['request'], request)
  assert.deepEqual(stable(echo)['response'], { status: 200, withheld: true })
  assert.deepEqual(lines.at(-1), { not_recorded: { record_id: '1', field: 'b' } })
  assert.deepEqual(written, { calls: 3, uncovered: 1, firstUncovered: [{ recordId: '1', field: 'b' }] })
})

test('cells whose calls are not in the recording are listed, and no others', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'y' },
    { id: '3', a: 'z' },
    { id: '4', a: 'w' },
    { id: '5', a: 'x' },
    { id: '6', a: 'z' },
  ])
  run.api.answer('/b/z', { status: 404, json: {} })
  await changeKeptResponses(run.sheet, { limit: 0, olderThanMs: null, trimTo: null })
  await run.run({ recordIds: ['1', '3'] })
  await changeKeptResponses(run.sheet, { limit: 1 << 20, olderThanMs: null, trimTo: null })
  await run.run({ recordIds: ['2'] })
  // Fresh by the cache, with a call that is recorded.
  await run.write({ id: '4', a: 'y' })
  await run.run({ recordIds: ['4'] })
  // The requests of 1 and 3, in a later run.
  await run.run({ recordIds: ['5', '6'], force: true })
  const { written } = await recordingOf(t, run.sheet)
  const uncovered = ['1', '3'].map((recordId) => ({ recordId, field: 'b' }))
  assert.deepEqual(written, { calls: 3, uncovered: 2, firstUncovered: uncovered })
})

test('the log is not read for cells of derivations without steps', async (t) => {
  const run = await openLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'no' },
  ])
  run.api.answer('/b/no', { status: 404, json: {} })
  await run.run()
  const { store } = await run.sheet.deriving()
  const reads = (['computation', 'provenance'] as const).map((name) => t.mock.method(store, name))
  const { written } = await recordingOf(t, run.sheet)
  assert.deepEqual([written.uncovered, ...reads.map(({ mock }) => mock.callCount())], [0, 0, 0])
})

test('each request of a conversation with a model is recorded', async (t) => {
  let answers = 0
  const { run, server } = await openAiSheet(t, {
    companies: ['Acme'],
    answer: () => (++answers === 1 ? { json: { industry: 'Unknown', staff: 12 } } : GOOD),
  })
  await run.run()
  const { written, lines } = await recordingOf(t, run.sheet)
  assert.deepEqual(written, { calls: 2, uncovered: 0, firstUncovered: [] })
  assert.deepEqual(
    lines.map(({ request }) => JSON.parse(String((request as JsonObject)['body'])) as unknown),
    server.requests.map(({ body }) => body),
  )
})

test('a recording that cannot be written rejects with the error of the system', async (t) => {
  const run = await openLookupSheet(t, [{ id: '1', a: 'x' }])
  await run.run()
  await assert.rejects(writeRecording(run.sheet, join(run.directory, 'none', 'recording.jsonl')), {
    code: 'ENOENT',
  })
})

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : 1
}
