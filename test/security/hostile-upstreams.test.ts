import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { ColophonProcess } from '../support/colophon-process.ts'
import { contractText } from '../support/contract-with.ts'
import { GREEDY, POSTED, QUICK, SLOW, type HostileAnswer } from '../support/hostile-answers.ts'
import { CSRF } from '../support/http-fixture.ts'
import { RawUpstream, say, sayAndLeave, whole, type RawAnswer } from '../support/raw-upstream.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const MIB = 1024 * 1024

interface Run {
  readonly materialized: number
  readonly skipped: number
  readonly failures: readonly { record_id: string; field: string; error: string; error_type: string }[]
}

/** Has a server tell its memory. */
const PRELOAD = pathToFileURL(join(import.meta.dirname, '..', 'support', 'report-memory.mjs')).href

/** Bytes: what is in use once the garbage is collected, and what the system says of the process. */
interface Memory {
  readonly used: number
  readonly rss: number
}

/** A server over a sheet whose records each call their own path of an upstream. */
class Served {
  readonly upstream: RawUpstream
  readonly #url: string
  readonly #process: ColophonProcess

  constructor(upstream: RawUpstream, { port, process }: { port: number; process: ColophonProcess }) {
    this.upstream = upstream
    this.#url = `http://127.0.0.1:${port}`
    this.#process = process
  }

  /** Runs derivations for these records. */
  async run(paths: readonly string[]): Promise<Run> {
    const response = await fetch(`${this.#url}/api/materialize`, {
      method: 'POST',
      headers: { ...CSRF, 'content-type': 'application/json' },
      body: JSON.stringify({ actor: 'agent:test', record_ids: paths, force: true }),
    })
    assert.equal(response.status, 200, await response.clone().text())
    return (await response.json()) as Run
  }

  /** The result of each record's cell: its error, without the request, or its value. */
  async outcomes(paths: readonly string[], run: Run): Promise<Record<string, unknown>> {
    const failures = new Map(run.failures.map((failure) => [failure.record_id, failure.error]))
    const outcomes: Record<string, unknown> = {}
    for (const path of paths) {
      const error = failures.get(path)
      outcomes[path] = error?.replace(/^(?:GET|POST) http:\S+ -> /, '') ?? { value: await this.#value(path) }
    }
    return outcomes
  }

  /** The most memory while something goes on, of as many moments as there is time for. */
  async peakDuring(work: () => Promise<unknown>): Promise<Memory> {
    let isOver = false
    const worked = work().finally(() => (isOver = true))
    let peak: Memory = { used: 0, rss: 0 }
    while (!isOver) {
      const [used, rss] = await this.#process.memory()
      peak = { used: Math.max(peak.used, used), rss: Math.max(peak.rss, rss) }
      // Collecting all garbage stops the server, which is to get on with its work.
      await setTimeout(150)
    }
    await worked
    return peak
  }

  async #value(id: string): Promise<unknown> {
    const response = await fetch(`${this.#url}/api/records/${encodeURIComponent(id)}?fields=value`)
    return ((await response.json()) as { value: unknown }).value
  }
}

interface Serving {
  readonly method?: 'GET' | 'POST'
  readonly timeout?: string
  readonly concurrency?: number
  readonly retries?: number
  /** The size of the body of a call in bytes. The body has several copies of the input, which has a limit of its own. */
  readonly bodyOf?: (path: string) => number
}

/** The number of copies of the input in the body of a call. */
const TIMES_IN_BODY = 16

/** Serves a sheet with a record for each path, whose `value` is what the upstream answers there. */
async function serve(t: TestContext, paths: readonly string[], how: Serving = {}): Promise<Served> {
  const { method = 'GET', timeout = '60s', concurrency = 8, retries = 0, bodyOf = () => TIMES_IN_BODY } = how
  const upstream = await RawUpstream.start(t)
  const directory = await writeSheet(t, {
    contract: contractText(['path', 'text', 'value'].map((name) => `{name: ${name}, logicalType: string}`)),
    records: paths.map((path) => ({
      id: path,
      path: path.slice(1),
      text: 'b'.repeat(bodyOf(path) / TIMES_IN_BODY),
    })),
    derivations: {
      'value.yaml': [
        'targets: [value]',
        'inputs: []',
        'kind: http',
        `method: ${method}`,
        `url: ${upstream.url}/{{ path }}`,
        `body_template: [${Array.from({ length: TIMES_IN_BODY }, () => "'{{ text }}'").join()}]`,
        'response_path: value',
        '',
      ].join('\n'),
    },
  })
  await writeFile(
    join(directory, 'transport.yaml'),
    `hosts:\n  '*': {timeout: ${timeout}, concurrency: ${concurrency}, retries: ${retries}}\n`,
  )
  const server = new ColophonProcess(t, ['serve', directory, '--port', '0'], {
    env: { NODE_OPTIONS: `--import=${PRELOAD}` },
  })
  return new Served(upstream, { port: await server.port(), process: server })
}

/** The same path several times, with something after `~` that makes each a path of its own. */
function times(path: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${path}~${index}`)
}

function expected(answers: Readonly<Record<string, HostileAnswer>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(answers).map(([path, { comesTo }]) => [path, comesTo]))
}

/** Further bytes on a connection after a complete response. */
const LEFTOVERS: Readonly<Record<string, RawAnswer>> = {
  'another answer': say(Buffer.concat([whole('{"value":"own"}'), whole('{"value":"foreign"}')])),
  'a body longer than it says': say(
    Buffer.concat([whole('{"value":"own"}'), Buffer.from('{"value":"foreign"}')]),
  ),
  'the start of another answer': say(
    Buffer.concat([whole('{"value":"own"}'), Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 19\r\nx: ')]),
  ),
  'a body after the status 204': say(
    'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 19\r\n\r\n{"value":"foreign"}',
  ),
}

test('H7: any response of a host fails its cell with a clear text, and the other cells are computed', async (t) => {
  const paths = Object.keys(QUICK).flatMap((path, index) => [path, `/good~${index}`])
  const served = await serve(t, paths)
  for (const [path, { answer }] of Object.entries(QUICK)) served.upstream.answer(path, answer)
  const run = await served.run(paths)
  const outcomes = await served.outcomes(paths, run)
  for (const [path, outcome] of Object.entries({ ...expected(QUICK) }))
    assert.deepEqual(outcomes[path], outcome, path)
  for (const path of times('/good', paths.length / 2))
    assert.deepEqual(outcomes[path], { value: 'good' }, path)
  for (const { error_type: type, error } of run.failures) {
    assert.equal(type, error.includes('field "value"') ? 'ValidationError' : 'ServiceError')
  }
  for (const path of paths) {
    const calls = served.upstream.calls.filter((call) => call.replace(/\?.*/, '') === `GET ${path}`).length
    // A redirect is followed five times.
    assert.equal(calls, path === '/loop' || path === '/growing' ? 6 : 1, path)
  }
})

test('H6: responses that drip end at the deadline, and leave no connection behind', async (t) => {
  const paths = Object.keys(SLOW).flatMap((path, index) => [path, `/good~${index}`])
  const served = await serve(t, paths, { timeout: '2s', concurrency: 32 })
  for (const [path, answer] of Object.entries(SLOW)) served.upstream.answer(path, answer)
  // Honest answers have a deadline of their own, which a busy machine may miss if they have to queue for it.
  served.upstream.answer('/good', sayAndLeave(whole('{"value":"good"}', 'connection: close\r\n')))
  const run = await served.run(paths)
  const outcomes = await served.outcomes(paths, run)
  for (const path of Object.keys(SLOW)) assert.equal(outcomes[path], 'timeout after 2 s', path)
  for (const path of times('/good', paths.length / 2))
    assert.deepEqual(outcomes[path], { value: 'good' }, path)
  await served.upstream.idle()
})

test('H7: hostile responses to a POST, also before it was sent completely, are distinguished from good ones', async (t) => {
  const paths = Object.keys(POSTED)
  const served = await serve(t, paths, {
    method: 'POST',
    // More than the buffers on the way hold.
    bodyOf: (path) => (path.startsWith('/hasty') ? 8 * MIB : TIMES_IN_BODY),
  })
  for (const [path, { answer, hasty }] of Object.entries(POSTED)) {
    served.upstream.answer(path, answer, { hasty: hasty === true })
  }
  assert.deepEqual(await served.outcomes(paths, await served.run(paths)), expected(POSTED))
  for (const path of paths) assert.equal(served.upstream.count(path), path === '/posted-loop' ? 6 : 1, path)
})

test('hostile responses keep the memory within 64 MiB of that for good ones', async (t) => {
  const honest = [...times('/honest', 50), ...times('/large', 4)]
  const greedy = Object.keys(GREEDY).flatMap((path) => times(path, 8))
  const served = await serve(t, [...honest, ...greedy])
  for (const [path, answer] of Object.entries(GREEDY)) served.upstream.answer(path, answer)
  const answerWith = (size: number): RawAnswer => say(whole(`{"value":"good","more":"${'x'.repeat(size)}"}`))
  served.upstream.answer('/honest', answerWith(64 * 1024))
  served.upstream.answer('/large', answerWith(5 * MIB))
  const before = await served.peakDuring(() => served.run(honest))
  const peak = await served.peakDuring(async () => {
    const run = await served.run(greedy)
    assert.equal(run.failures.length, greedy.length)
  })
  const mib = (bytes: number): string => (bytes / MIB).toFixed(1)
  t.diagnostic(
    `used ${mib(before.used)} -> ${mib(peak.used)} MiB, RSS ${mib(before.rss)} -> ${mib(peak.rss)} MiB`,
  )
  assert.ok(peak.used - before.used < 64 * MIB, `${mib(peak.used)} MiB in use, ${mib(before.used)} before`)
  assert.equal((await served.run(honest)).materialized, honest.length)
})

test('connections that are kept', async (t) => {
  const leftovers = Object.keys(LEFTOVERS).map((what, at) => {
    const paths = Array.from({ length: 8 }, (_, index) => [
      `/poison-${at}~${index}`,
      `/next-${at}~${index}`,
    ]).flat()
    return { what, at, paths }
  })
  const brief = { close: times('/brief-close', 20), reset: times('/brief-reset', 20) }
  const fickle = times('/fickle', 10)
  const late = times('/late', 3)
  const all = [...leftovers.flatMap(({ paths }) => paths), ...late, ...brief.close, ...brief.reset, ...fickle]
  const served = await serve(t, all, { concurrency: 1 })
  const { upstream } = served

  for (const { what, at, paths } of leftovers) {
    await t.test(`bytes after a response do not reach another cell: ${what}`, async () => {
      upstream.answer(`/poison-${at}`, LEFTOVERS[what] ?? say(''))
      upstream.answer(`/next-${at}`, say(whole('{"value":"next"}')))
      const outcomes = await served.outcomes(paths, await served.run(paths))
      const own = what.includes('204') ? 'malformed JSON' : { value: 'own' }
      for (const path of paths) {
        assert.deepEqual(outcomes[path], path.startsWith('/next') ? { value: 'next' } : own, path)
        assert.equal(upstream.count(path), 1, path)
      }
    })
  }

  await t.test('bytes on an idle connection close it, and reach no cell', async () => {
    upstream.answer('/late', (socket) => {
      socket.write(whole('{"value":"own"}'))
      // In a packet of its own: whose answer it is, nobody could tell once the next request is out.
      setImmediate(() => socket.write(whole('{"value":"foreign"}')))
    })
    for (const path of late) {
      assert.deepEqual(await served.outcomes([path], await served.run([path])), {
        [path]: { value: 'own' },
      })
      await upstream.idle()
    }
  })

  for (const how of ['close', 'reset'] as const) {
    await t.test(`a ${how} of the host loses no cell, and nothing is called twice`, async () => {
      upstream.answer(`/brief-${how}`, sayAndLeave(whole('{"value":"x"}'), how))
      let left = brief[how]
      // A request may cross the end of the connection on the way: nobody knows then whether it was heard.
      while (left.length > 0) {
        const calls = new Map(left.map((path) => [path, upstream.count(path)]))
        const outcomes = await served.outcomes(left, await served.run(left))
        for (const path of left) assert.ok(upstream.count(path) - (calls.get(path) ?? 0) <= 1, path)
        const failed = left.filter((path) => /^connection (?:closed|reset)$/.test(String(outcomes[path])))
        for (const path of left) {
          if (!failed.includes(path)) assert.deepEqual(outcomes[path], { value: 'x' }, path)
        }
        assert.ok(failed.length < left.length)
        left = failed
      }
    })
  }

  await t.test(
    'a break during a later request fails that cell alone, and nothing is called twice',
    async () => {
      upstream.answer('/fickle', (socket, { path, earlier }) => {
        if (earlier === 0) socket.write(whole(`{"value":"${path}"}`))
        else socket.destroy()
      })
      const outcomes = await served.outcomes(fickle, await served.run(fickle))
      const failed = fickle.filter((path) => /^connection (?:closed|reset)$/.test(String(outcomes[path])))
      assert.ok(failed.length > 0)
      for (const path of fickle) {
        if (!failed.includes(path)) assert.deepEqual(outcomes[path], { value: path }, path)
        assert.equal(upstream.count(path), 1, path)
      }
    },
  )
})

test('with retries, kept connections that the host closes cost no cell', async (t) => {
  const paths = [...times('/close', 20), ...times('/reset', 20)]
  const served = await serve(t, paths, { concurrency: 2, retries: 5 })
  served.upstream.answer('/close', sayAndLeave(whole('{"value":"x"}'), 'close'))
  served.upstream.answer('/reset', sayAndLeave(whole('{"value":"x"}'), 'reset'))
  assert.deepEqual((await served.run(paths)).failures, [])
})
