import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ValidationError } from '../../../errors/service-error.ts'
import { DEFAULT_HOST_POLICY } from '../../definition/host-policies.ts'
import { parseStub, StubTransport } from './stub-transport.ts'
import type { TransportRequest } from '../call/transport.ts'

const OPTIONS = { signal: new AbortController().signal, policy: DEFAULT_HOST_POLICY }

function get(url: string): TransportRequest {
  return { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set() }
}

test('H6: a stub answers with the payload under the exact text <METHOD> <URL>, with status 200', async () => {
  const stub = parseStub(
    '\uFEFF{"responses": {"GET https://h/a?x=1": {"v": [1]}, "GET https://h/null": null}}',
  )
  const answer = { status: 200, json: { v: [1] }, text: '{"v":[1]}', durationMs: 0 }
  assert.deepEqual(await stub.send(get('https://h/a?x=1'), OPTIONS), { ok: true, value: answer })
  assert.deepEqual(await stub.send(get('https://h/null'), OPTIONS), {
    ok: true,
    value: { ...answer, json: null, text: 'null' },
  })
})

test('D41: without a fallback an unprepared key fails; keys are not normalised', async () => {
  const stub = parseStub('{"responses": {"GET https://h/a": 1}}')
  for (const request of [
    get('https://H/a'),
    get('https://h/a/'),
    { ...get('https://h/a'), method: 'POST' as const },
  ]) {
    const label = `${request.method} ${request.url}`
    assert.deepEqual(await stub.send(request, OPTIONS), {
      ok: false,
      error: { reason: 'no_stub_response', request: label },
    })
  }
})

test('H6, D41: the fallback answers unprepared keys only, also when it or a prepared payload is null', async () => {
  const stub = parseStub(
    '{"responses": {"GET https://h/a": 1, "GET https://h/n": null}, "fallback": {"f": 2}}',
  )
  const json = async (transport: StubTransport, url: string): Promise<unknown> => {
    const answer = await transport.send(get(url), OPTIONS)
    return answer.ok ? answer.value.json : answer.error
  }
  assert.equal(await json(stub, 'https://h/a'), 1)
  assert.equal(await json(stub, 'https://h/n'), null)
  assert.deepEqual(await json(stub, 'https://h/z'), { f: 2 })
  assert.equal(await json(parseStub('{"fallback": null}'), 'https://h/z'), null)
  const responder = new StubTransport({ responses: new Map(), fallback: ({ url }) => ({ url }) })
  assert.deepEqual(await json(responder, 'https://h/z'), { url: 'https://h/z' })
})

test('a stub rejects with the reason of an aborted signal', async () => {
  const stub = parseStub('{"fallback": 1}')
  await assert.rejects(
    stub.send(get('https://h/'), { ...OPTIONS, signal: AbortSignal.abort(new Error('stop')) }),
    /stop/,
  )
})

for (const [text, message] of [
  ['{', /not JSON of the form/],
  ['[]', /not JSON of the form/],
  ['{"response": {}}', /unknown key "response"; .*did you mean "responses"\?/],
  ['{"responses": []}', /"responses" of the stub file is not an object/],
  ['{"responses": {"https://h/": 1}}', /"https:\/\/h\/" in the stub file is not of the form/],
  ['{"responses": {"get https://h/": 1}}', /not of the form/],
  ['{"responses": {"GET ": 1}}', /not of the form/],
] as const) {
  test(`D41: the stub file ${text} is a ValidationError`, () => {
    assert.throws(() => parseStub(text), ValidationError)
    assert.throws(() => parseStub(text), message)
  })
}

test('D41: an answer of a model is the first that fits its name and its prompt', async () => {
  const stub = parseStub(
    JSON.stringify({
      answers: [
        { model: 'small', prompt: 'Acme', answer: { staff: 3 } },
        { prompt: 'Acme', answer: 'Retail' },
        { model: 'small', answer: 'other' },
      ],
    }),
  )
  const answerTo = async (model: string, text: string): Promise<unknown> => {
    const prompt = { model, text, responseOf: (answer: string) => ({ answer }) }
    const sent = await stub.send({ ...get('https://h/v1'), prompt }, OPTIONS)
    return sent.ok ? sent.value.json : sent.error.reason
  }
  assert.deepEqual(await answerTo('small', 'About Acme'), { answer: '{"staff":3}' })
  assert.deepEqual(await answerTo('large', 'About Acme'), { answer: 'Retail' })
  assert.deepEqual(await answerTo('small', 'About Borealis'), { answer: 'other' })
  assert.equal(await answerTo('large', 'About Borealis'), 'no_stub_response')
  assert.throws(() => parseStub('{"answers": {}}'), /"answers" of the stub file is not a list/)
  assert.throws(() => parseStub('{"answers": [{"model": 1, "answer": ""}]}'), /is not of the form/)
  assert.throws(() => parseStub('{"answers": [{"anwser": ""}]}'), /is not of the form/)
})
