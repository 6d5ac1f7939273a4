import assert from 'node:assert/strict'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { recordedLine, type RecordedCall, type SentRequest } from './recorded-call.ts'
import { RecordingIndex } from './recording-index.ts'

function request(name: string): SentRequest {
  return { method: 'GET', url: `https://a.example/${name}`, headers: {}, body: null }
}

/** A line of a call for a record, in a run, whose response has a text. */
function call(
  of: { readonly run: string; readonly file?: string; readonly id: string; readonly to: string },
  body: string | null,
): string {
  const answer: RecordedCall['answer'] = { status: 200, durationMs: 1, body }
  const origin = { derivation: of.file ?? 'a.yaml', recordId: of.id }
  return recordedLine({ run: of.run, origin, request: request(of.to), tries: [], answer })
}

async function indexOf(t: TestContext, lines: readonly string[]): Promise<RecordingIndex> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-index-'))
  t.after(() => rm(directory, { recursive: true }))
  const path = join(directory, 'recording.jsonl')
  await writeFile(path, lines.map((line) => `${line}\n`).join(''))
  const index = await RecordingIndex.open(path, (line) => {
    throw new Error(`line ${line}`)
  })
  t.after(() => index.close())
  return index
}

test('a request is answered for the same record and run first, in order, then by those nearest to it', async (t) => {
  const index = await indexOf(t, [
    call({ run: '1', id: 'a', to: 'x' }, 'first'),
    call({ run: '1', id: 'a', to: 'x' }, 'second ü'),
    call({ run: '1', id: 'b', to: 'x' }, 'of b'),
    call({ run: '2', id: 'a', to: 'x' }, 'of run 2'),
    call({ run: '4', file: 'b.yaml', id: 'c', to: 'x' }, 'of run 4'),
  ])
  const find = (run: string, recordId: string, derivation = 'a.yaml'): unknown => {
    const found = index.find({ request: request('x'), origin: { derivation, recordId }, run })
    return found !== null && 'body' in found.answer ? found.answer.body : null
  }
  assert.deepEqual([find('1', 'a'), find('1', 'a'), find('1', 'a')], ['first', 'second ü', 'second ü'])
  assert.deepEqual([find('1', 'b'), find('2', 'a')], ['of b', 'of run 2'])
  // Another record shared the call of the first of its derivation, or of its run.
  assert.deepEqual(
    [find('1', 'z'), find('4', 'z'), find('2', 'z', 'b.yaml')],
    ['first', 'of run 4', 'of run 2'],
  )
  // What a run took from the cache is the result of the last run before it.
  assert.equal(find('3', 'a'), 'of run 2')
  assert.equal(
    index.find({ request: request('y'), origin: { derivation: 'a.yaml', recordId: 'a' }, run: '1' }),
    null,
  )
})

test('a call of a later run is no answer, and one of a preview is if no run before made it', async (t) => {
  const index = await indexOf(t, [
    call({ run: 'preview', id: 'a', to: 'x' }, 'of a preview'),
    call({ run: '2', id: 'a', to: 'x' }, 'of run 2'),
    call({ run: '3', id: 'a', to: 'y' }, 'of run 3'),
    call({ run: '10', id: 'b', to: 'z' }, 'of run 10'),
  ])
  const find = (run: string, to: string): unknown => {
    const wanted = { request: request(to), origin: { derivation: 'a.yaml', recordId: 'a' }, run }
    const found = index.find(wanted)
    return found !== null && 'body' in found.answer ? found.answer.body : index.missing(wanted)
  }
  assert.deepEqual([find('1', 'x'), find('3', 'x')], ['of a preview', 'of run 2'])
  assert.equal(find('1', 'y'), 'not in the recording of run 1; run 3 made the request later')
  assert.deepEqual(
    [find('9', 'z'), find('11', 'z')],
    ['not in the recording of run 9; run 10 made the request later', 'of run 10'],
  )
})

test('a request that is not recorded has the nearest of its record, else of its derivation', async (t) => {
  const index = await indexOf(t, [
    call({ run: '1', id: 'a', to: 'people/ann' }, 'x'),
    call({ run: '1', id: 'b', to: 'towns/bern' }, 'x'),
    call({ run: '1', id: 'c', to: 'people/carl' }, null),
    '{"not_recorded":{"record_id":"d","field":"f"}}',
  ])
  const missing = (to: string, recordId: string, derivation = 'a.yaml'): string =>
    index.missing({ request: request(to), origin: { derivation, recordId }, run: '1' })
  assert.equal(
    missing('people/anna', 'b'),
    'not in the recording; the nearest request is that of record "b" in run 1: ' +
      'the URL differs at character 19: "people/anna", recorded "towns/bern"',
  )
  assert.equal(
    missing('people/anna', 'new'),
    'not in the recording; the nearest request is that of record "a" in run 1: the URL differs at character 29: "a", recorded ""',
  )
  assert.equal(missing('x', 'a', 'other.yaml'), 'not in the recording, which has no request for other.yaml')
  assert.equal(
    missing('people/carl', 'c'),
    'not in the recording, since its response repeats a secret of the request',
  )
  assert.deepEqual([...index.notRecorded], ['d\0f'])
})

for (const [name, line] of [
  ['a line without a request', '{"run":"1"}'],
  ['what is not JSON', '{"run":'],
  ['a cell without a field', '{"not_recorded":{"record_id":"a"}}'],
  [
    'an unknown failure',
    call({ run: '1', id: 'a', to: 'x' }, 'x').replace(
      /"response".*/,
      '"failure":{"reason":"odd","request":"x"}}',
    ),
  ],
  [
    'a failure without its status',
    call({ run: '1', id: 'a', to: 'x' }, 'x').replace(
      /"response".*/,
      '"failure":{"reason":"status","request":"x"}}',
    ),
  ],
] as const) {
  test(`${name} is no line of a recording, and is reported with its number`, async (t) => {
    await assert.rejects(indexOf(t, [call({ run: '1', id: 'a', to: 'x' }, 'x'), line]), /^Error: line 2$/)
  })
}

test('a line without an end is no line of a recording, and is not read to its end', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-index-'))
  t.after(() => rm(directory, { recursive: true }))
  const path = join(directory, 'recording.jsonl')
  await writeFile(path, `${call({ run: '1', id: 'a', to: 'x' }, 'x')}\n{"run":"`)
  await truncate(path, 600 << 20)
  const opened = RecordingIndex.open(path, (line) => {
    throw new Error(`line ${line}`)
  })
  await assert.rejects(opened, /^Error: line 2$/)
})
