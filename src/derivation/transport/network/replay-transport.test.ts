import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hostPolicies } from '../../definition/host-policies.ts'
import { recordedLine, type RecordedCall } from '../../recording/recorded-call.ts'
import { RecordingIndex } from '../../recording/recording-index.ts'
import type { HttpMethod, Transport } from '../call/transport.ts'
import { SecretGuard } from '../guard/secret-guard.ts'
import { startHttp } from '../testing/local-server.ts'
import { sendGuarded } from './guarded-send.ts'
import { ReplayTransport } from './replay-transport.ts'
import { UndiciTransport } from './undici-transport.ts'

const POLICY = hostPolicies(new Map([['*', { retries: 0 }]])).forUrl('http://x/')
const ORIGIN = { derivation: 'a.yaml', recordId: '1' }

/** Sends a request, and returns its result without durations, its recorded call, and the statuses of which it was asked whether they may pass. */
async function sent(transport: Transport, url: string, accepts: ReadonlySet<number>): Promise<Sent> {
  const method: HttpMethod = 'GET'
  const shown = { method, url, headers: {}, body: null }
  const calls: RecordedCall[] = []
  const asked: number[] = []
  const result = await sendGuarded(
    transport,
    { request: { ...shown, secretHeaders: new Set() }, shown, guard: new SecretGuard([]) },
    {
      signal: new AbortController().signal,
      policy: POLICY,
      accepts,
      mayRetry: (status) => asked.push(status) === 0,
      origin: ORIGIN,
      onRecorded: (call) => calls.push(call),
    },
  )
  const shownResult = result.ok ? { ...result.value, durationMs: 0 } : result.error
  const [call] = calls
  assert.ok(call !== undefined)
  return { result: shownResult, asked, call }
}

interface Sent {
  readonly result: object
  readonly asked: readonly number[]
  readonly call: RecordedCall
}

const ERROR = { status: 404, text: '{"error":"no"}' }

const cases: readonly (readonly [
  name: string,
  response: { readonly status: number; readonly text: string },
  before: readonly number[],
  after: readonly number[],
])[] = [
  ['an error status', ERROR, [], []],
  ['an error status that is accepted now', ERROR, [], [404]],
  ['an error status without a body that is accepted now', { status: 503, text: '' }, [], [503]],
  ['an error status that was accepted', ERROR, [404], []],
  ['an error status that is accepted', ERROR, [404], [404]],
  ['a long error page that was accepted', { status: 410, text: 'é'.repeat(3000) }, [410], [404]],
  ['JSON', { status: 200, text: '{"value":1}' }, [], [404]],
  ['a success without a body that was accepted', { status: 204, text: '' }, [204], []],
]

for (const [name, response, before, after] of cases) {
  test(`a recorded response has the result that it would have from the network: ${name}`, async (t) => {
    const server = await startHttp((_, reply) => {
      reply.writeHead(response.status).end(response.text)
    })
    t.after(() => server.close())
    const live = new UndiciTransport({ allowedHosts: null })
    t.after(() => live.close())
    const url = `${server.origin}/x`
    const { call } = await sent(live, url, new Set(before))
    const directory = await mkdtemp(join(tmpdir(), 'colophon-replayed-'))
    t.after(() => rm(directory, { recursive: true }))
    const path = join(directory, 'recording.jsonl')
    await writeFile(path, `${recordedLine({ run: '1', ...call })}\n`)
    const index = await RecordingIndex.open(path, (line) => assert.fail(`line ${line}`))
    t.after(() => index.close())
    const replay = new ReplayTransport(index)
    replay.run = '1'
    const expected = await sent(live, url, new Set(after))
    const replayed = await sent(replay, url, new Set(after))
    assert.deepEqual([replayed.result, replayed.asked], [expected.result, expected.asked])
  })
}
