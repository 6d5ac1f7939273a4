import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { DEFAULT_HOST_POLICY } from '../../definition/host-policies.ts'
import type { HostPolicy } from '../../definition/host-policies.ts'
import type { Clock } from '../../limiter/clock.ts'
import { startHttp, startTcp } from '../testing/local-server.ts'
import { JumpingClock, StoppedClock } from '../../testing/test-clock.ts'
import type { SendFailure, SendResult, TransportRequest } from '../call/transport.ts'
import { UndiciTransport } from './undici-transport.ts'

type Sent = Partial<TransportRequest> & {
  readonly policy?: Partial<HostPolicy>
  readonly signal?: AbortSignal
}

/** A transport on its own clock, with a server. */
class Subject {
  readonly clock: JumpingClock = new JumpingClock()
  readonly transport: UndiciTransport
  readonly requests: IncomingMessage[] = []
  url = ''
  readonly #t: TestContext

  constructor(t: TestContext, clock?: Clock) {
    this.#t = t
    this.transport = new UndiciTransport({ clock: clock ?? this.clock, random: () => 0.5 })
    t.after(() => this.transport.close())
  }

  /** Starts the server; `listener` receives the number of earlier requests. */
  async serve(
    listener: (before: number, response: ServerResponse, incoming: IncomingMessage) => void,
  ): Promise<this> {
    const count: RequestListener = (incoming, response) => {
      this.requests.push(incoming)
      listener(this.requests.length - 1, response, incoming)
    }
    const server = await startHttp(count)
    this.#t.after(() => server.close())
    this.url = `${server.origin}/`
    return this
  }

  send({ policy, signal, ...request }: Sent = {}): Promise<SendResult> {
    const asked = {
      method: 'GET',
      url: this.url,
      headers: {},
      body: null,
      secretHeaders: new Set<string>(),
    } as const
    return this.transport.send(
      { ...asked, ...request },
      {
        signal: signal ?? new AbortController().signal,
        policy: { ...DEFAULT_HOST_POLICY, retries: 3, timeoutMs: 10_000, ...policy },
      },
    )
  }

  /** Returns the failure of a call without its label; null for a success. */
  async failure(sent: Sent = {}): Promise<unknown> {
    const answer = await this.send(sent)
    if (answer.ok) return null
    const {
      request: _request,
      received: _received,
      ...rest
    } = answer.error as SendFailure & { request: string }
    return rest
  }
}

/** Responds with each of these in turn, then with 200; a status, or a reset of the connection. */
function inTurn(...answers: readonly (number | 'reset')[]): Parameters<Subject['serve']>[0] {
  return (before, response, incoming) => {
    const answer = answers[before] ?? 200
    if (answer === 'reset') incoming.socket.resetAndDestroy()
    else response.writeHead(answer).end('{"v": 1}')
  }
}

/** The number of times that a request is sent whose outcome is unknown, by method. */
const TRIES = [
  ['GET', 2],
  ['PUT', 2],
  ['DELETE', 2],
  ['POST', 1],
  ['PATCH', 1],
] as const

test('temporary failures are tried again until a try succeeds, with growing waits', async (t) => {
  const subject = await new Subject(t).serve(inTurn(503, 'reset', 500))
  assert.equal(await subject.failure(), null)
  assert.equal(subject.requests.length, 4)
  assert.deepEqual(subject.clock.jumps, [250, 500, 1000])
})

test('D26: the failure is that of the last try, and no more tries are made than allowed', async (t) => {
  for (const [answers, failure] of [
    [[500, 'reset', 503], { reason: 'status', status: 503 }],
    [[500, 500, 'reset'], { reason: 'network', detail: 'connection reset' }],
    [[500, 404], { reason: 'status', status: 404 }],
  ] as const) {
    const subject = await new Subject(t).serve(inTurn(...answers, 500, 500))
    assert.deepEqual(await subject.failure({ policy: { retries: 2 } }), failure)
    assert.equal(subject.requests.length, answers.length)
  }
})

test('without retries there is one try, and 429 pauses no other call', async (t) => {
  const subject = await new Subject(t).serve((_before, response) => {
    response.writeHead(429, { 'retry-after': '7200' }).end()
  })
  const policy = { retries: 0, concurrency: 1 }
  const failures = await Promise.all([1, 2, 3].map(() => subject.failure({ policy })))
  for (const failure of failures) assert.deepEqual(failure, { reason: 'status', status: 429 })
  assert.equal(subject.requests.length, 3)
  assert.deepEqual(subject.clock.jumps, [])
  assert.ok(!Object.hasOwn(subject.requests[0]?.headers ?? {}, 'idempotency-key'))
})

for (const status of [500, 501, 502, 503, 504, 599, 429]) {
  test(`${status} is tried again`, async (t) => {
    const subject = await new Subject(t).serve(inTurn(status))
    assert.equal(await subject.failure(), null)
    assert.equal(subject.requests.length, 2)
  })
}

for (const [name, listener] of [
  ['a status of 400', (response) => response.writeHead(400).end()],
  ['a status of 404', (response) => response.writeHead(404, { 'retry-after': '1' }).end()],
  ['a status of 408', (response) => response.writeHead(408).end()],
  ['a status of 304', (response) => response.writeHead(304).end()],
  ['malformed JSON', (response) => response.end('{')],
  ['a body too large', (response) => response.end(Buffer.alloc(10 * 1024 * 1024 + 1, ' '))],
  [
    'an unknown content encoding',
    (response) => response.writeHead(200, { 'content-encoding': 'rot13' }).end('1'),
  ],
  [
    'a redirect that cannot be followed',
    (response) => response.writeHead(302, { location: 'ftp://h/' }).end(),
  ],
  ['what is no HTTP', (response) => response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n')],
] as readonly [string, (response: ServerResponse) => void][]) {
  test(`${name} is not tried again`, async (t) => {
    const subject = await new Subject(t).serve((_before, response) => listener(response))
    assert.notEqual(await subject.failure(), null)
    assert.equal(subject.requests.length, 1)
    assert.deepEqual(subject.clock.jumps, [])
  })
}

test('a connection that is refused is tried again', async (t) => {
  const gone = await startTcp(() => {})
  await gone.close()
  const subject = new Subject(t)
  assert.deepEqual(await subject.failure({ url: `${gone.origin}/` }), {
    reason: 'network',
    detail: 'connection refused',
  })
  assert.deepEqual(subject.clock.jumps, [250, 500, 1000])
})

for (const [method, tries] of TRIES) {
  test(`a ${method} that exceeds its deadline is tried ${tries === 1 ? 'once' : 'again'}`, async (t) => {
    // The time advances only when a request has arrived.
    const subject = await new Subject(t).serve(() => t.mock.timers.tick(10_000))
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const failure = await subject.failure({ method, policy: { retries: 1 } })
    assert.deepEqual(failure, { reason: 'timeout', seconds: 10 })
    assert.equal(subject.requests.length, tries)
  })
}

test('all tries of a POST have the same idempotency key, another call has another, and a GET has none', async (t) => {
  const subject = await new Subject(t).serve(inTurn(503, 500, 200, 503))
  for (const method of ['POST', 'PATCH', 'GET'] as const)
    assert.equal(await subject.failure({ method }), null)
  const keys = subject.requests.map(({ headers }) => headers['idempotency-key'])
  assert.equal(new Set(keys.slice(0, 3)).size, 1)
  assert.equal(keys[3], keys[4])
  assert.match(String(keys[0]), /^"[0-9a-f-]{36}"$/)
  assert.notEqual(keys[0], keys[3])
  assert.deepEqual(keys.slice(5), [undefined])
})

test('an idempotency key that the derivation sets is kept', async (t) => {
  const subject = await new Subject(t).serve(inTurn(503))
  const headers = { 'idempotency-key': 'mine' }
  assert.equal(await subject.failure({ method: 'POST', headers }), null)
  assert.deepEqual(
    subject.requests.map((request) => request.headers['idempotency-key']),
    ['mine', 'mine'],
  )
})

for (const [status, retryAfter, expected] of [
  [429, '7', 7000],
  [503, '7', 7000],
  [500, '7', 7000],
  [503, '0', 250],
  [429, 'Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
  [503, 'Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
  [429, '3600', 3_600_000],
] as const) {
  test(`${status} with Retry-After: ${retryAfter} is tried again after ${expected} ms`, async (t) => {
    const subject = await new Subject(t).serve((before, response) => {
      const headers = { date: 'Sun, 06 Nov 1994 08:49:37 GMT', 'retry-after': retryAfter }
      if (before === 0) response.writeHead(status, headers).end()
      else response.end('1')
    })
    assert.equal(await subject.failure(), null)
    assert.equal(subject.clock.now(), expected)
  })
}

test('a pause of more than an hour is not waited for; a call tests the host every minute', async (t) => {
  const subject = await new Subject(t).serve((before, response) => {
    if (before === 0) response.writeHead(429, { 'retry-after': '3601' }).end()
    else response.end('1')
  })
  const closed = { reason: 'status', status: 429 }
  assert.deepEqual(await subject.failure(), closed)
  assert.deepEqual(await subject.failure(), closed)
  assert.equal(subject.requests.length, 1)
  assert.deepEqual(subject.clock.jumps, [])
  const label = await subject.send({ method: 'POST' })
  assert.ok(!label.ok && 'request' in label.error && label.error.request === `POST ${subject.url}`)

  await new Promise<void>((resolve) => void subject.clock.after(60_000, resolve))
  assert.equal(await subject.failure(), null)
  assert.equal(await subject.failure(), null)
  assert.equal(subject.clock.now(), 60_000)
})

test('a Retry-After that is a point in time as a number is ignored', async (t) => {
  const subject = await new Subject(t).serve((before, response) => {
    if (before === 0) response.writeHead(429, { 'retry-after': '1764000000' }).end()
    else response.end('1')
  })
  assert.equal(await subject.failure(), null)
  assert.equal(subject.clock.now(), 250)
})

test('of two Retry-After headers the longer counts', async (t) => {
  const subject = await new Subject(t).serve((before, response) => {
    if (before === 0) response.writeHead(429, ['retry-after', '5', 'retry-after', '7']).end()
    else response.end('1')
  })
  assert.equal(await subject.failure(), null)
  assert.equal(subject.clock.now(), 7000)
})

test('redirects within the origin count towards the rate, also when all permits are in use', async (t) => {
  const subject = await new Subject(t).serve((_before, response, { url = '' }) => {
    if (url.endsWith('/')) response.end('1')
    else response.writeHead(301, { location: `${url}/` }).end()
  })
  const policy = { concurrency: 2, rateLimit: { calls: 5, perMs: 1000 } }
  const url = `${subject.url}r1`
  const failures = await Promise.all(Array.from({ length: 10 }, () => subject.failure({ url, policy })))
  assert.deepEqual(new Set(failures), new Set([null]))
  assert.equal(subject.requests.length, 20)
  // The host cannot know when they were sent on this clock; four windows of five must have begun.
  assert.ok(subject.clock.now() >= 3300, String(subject.clock.now()))
})

test('the wait of a redirect for the rate ends at once when its signal aborts', async (t) => {
  const waiting = Promise.withResolvers<void>()
  const clock = new StoppedClock(waiting.resolve)
  const subject = await new Subject(t, clock).serve((_before, response) =>
    response.writeHead(302, { location: '/there' }).end(),
  )
  const controller = new AbortController()
  const policy = { rateLimit: { calls: 1, perMs: 1000 } }
  const call = subject.send({ policy, signal: controller.signal })
  await waiting.promise
  controller.abort(new Error('stopping'))
  await assert.rejects(call, /stopping/)
  assert.equal(clock.pending, 0)
  assert.equal(subject.requests.length, 1)
  assert.deepEqual(getEventListeners(controller.signal, 'abort'), [])
})

test('the wait of a redirect for the rate does not count towards the timeout', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const waiting = Promise.withResolvers<void>()
  const alarms: (() => void)[] = []
  const clock: Clock = {
    now: () => alarms.length * 1100,
    after(_ms, callback) {
      t.mock.timers.tick(20_000)
      setImmediate(() => {
        alarms.push(callback)
        callback()
      })
      waiting.resolve()
      return () => {}
    },
  }
  const subject = await new Subject(t, clock).serve((before, response) => {
    if (before === 0) response.writeHead(302, { location: '/there' }).end()
    else response.end('1')
  })
  const policy = { rateLimit: { calls: 1, perMs: 1000 }, timeoutMs: 10_000 }
  assert.equal(await subject.failure({ policy }), null)
  assert.equal(alarms.length, 1)
})

for (const [method, tries] of TRIES) {
  test(`a ${method} whose connection breaks after it was sent is tried ${tries === 1 ? 'once' : 'again'}`, async (t) => {
    const subject = await new Subject(t).serve(inTurn('reset'))
    const failed = { reason: 'network', detail: 'connection reset' }
    assert.deepEqual(await subject.failure({ method }), tries === 1 ? failed : null)
    assert.equal(subject.requests.length, tries)
  })

  test(`a ${method} whose connection is refused is tried again`, async (t) => {
    const gone = await startTcp(() => {})
    await gone.close()
    const subject = new Subject(t)
    const failed = { reason: 'network', detail: 'connection refused' }
    assert.deepEqual(await subject.failure({ method, url: `${gone.origin}/` }), failed)
    assert.equal(subject.clock.jumps.length, 3)
  })
}

test('a call that waits for a retry keeps its own failure when the transport closes', async (t) => {
  const waiting = Promise.withResolvers<void>()
  const subject = await new Subject(t, new StoppedClock(waiting.resolve)).serve((before, response) => {
    if (before === 0) response.writeHead(503).end()
    else response.writeHead(429, { 'retry-after': '9999' }).end()
  })
  const first = subject.failure()
  await waiting.promise
  assert.deepEqual(await subject.failure(), { reason: 'status', status: 429 })
  assert.deepEqual(await first, { reason: 'status', status: 503 })
})

test('a response to calls without retries pauses no calls with retries', async (t) => {
  const subject = await new Subject(t).serve((before, response) => {
    if (before === 0) response.writeHead(429, { 'retry-after': '9999' }).end()
    else response.end('1')
  })
  assert.deepEqual(await subject.failure({ policy: { retries: 0 } }), { reason: 'status', status: 429 })
  assert.equal(await subject.failure(), null)
})

for (const status of [429, 503]) {
  test(`${status} with a Retry-After pauses the other calls to its host, and none to another`, async (t) => {
    const waiting = Promise.withResolvers<void>()
    const clock = new StoppedClock(waiting.resolve)
    const subject = await new Subject(t, clock).serve((_before, response) => {
      response.writeHead(status, { 'retry-after': '5' }).end()
    })
    const { url } = subject
    const controller = new AbortController()
    const calls = [subject.send({ signal: controller.signal })]
    await waiting.promise
    calls.push(subject.send({ signal: controller.signal }))
    await subject.serve((_before, response) => response.end('1'))
    assert.notEqual(subject.url, url)
    assert.equal(await subject.failure(), null)
    assert.equal(subject.requests.length, 2)
    controller.abort(new Error('stopping'))
    for (const call of calls) await assert.rejects(call, /stopping/)
  })
}

test('tries count towards the rate from when they are sent, not from when they are answered', async (t) => {
  const held: ServerResponse[] = []
  const subject = await new Subject(t).serve((before, response) => {
    if (before === 0) held.push(response)
    else response.end('1')
  })
  const policy = { rateLimit: { calls: 1, perMs: 1000 } }
  const first = subject.failure({ policy })
  assert.equal(await subject.failure({ policy }), null)
  assert.equal(subject.clock.now(), 1100)
  held[0]?.end('1')
  assert.equal(await first, null)
})

test('500 with a Retry-After beyond an hour fails its call, and pauses nothing', async (t) => {
  const subject = await new Subject(t).serve((before, response) => {
    if (before === 0) response.writeHead(500, { 'retry-after': '9999' }).end()
    else response.end('1')
  })
  assert.deepEqual(await subject.failure(), { reason: 'status', status: 500 })
  assert.equal(await subject.failure(), null)
})

test('calls beyond a limit of the server are asked to wait, wait, and all succeed', async (t) => {
  const { clock } = new Subject(t)
  const LIMIT = 5
  const WINDOW = 1000
  const admitted: number[] = []
  const subject = await new Subject(t, clock).serve((_before, response) => {
    const now = clock.now()
    const inWindow = admitted.filter((at) => at > now - WINDOW)
    if (inWindow.length < LIMIT) {
      admitted.push(now)
      response.end('1')
    } else {
      const seconds = Math.ceil(((inWindow[0] ?? now) + WINDOW - now) / 1000)
      response.writeHead(429, { 'retry-after': String(seconds) }).end()
    }
  })
  const policy = { retries: 5, concurrency: 8 }
  const failures = await Promise.all(Array.from({ length: 60 }, () => subject.failure({ policy })))
  assert.deepEqual(
    failures,
    failures.map(() => null),
  )
  assert.equal(admitted.length, 60)
  assert.ok(subject.requests.length > 60, 'the server had to refuse some')
})

test('a call that waits for its next try does not delay others', async (t) => {
  const waiting = Promise.withResolvers<void>()
  const clock = new StoppedClock(waiting.resolve)
  const subject = await new Subject(t, clock).serve((before, response) => {
    response.writeHead(before === 0 ? 503 : 200).end('1')
  })
  const policy = { concurrency: 1 }
  const controller = new AbortController()
  const first = subject.send({ policy, signal: controller.signal })
  await waiting.promise
  assert.equal(await subject.failure({ policy }), null)
  controller.abort(new Error('stopping'))
  await assert.rejects(first, /stopping/)
})

for (const [name, policy, status] of [
  ['its backoff', {}, 503],
  ['the end of a pause', {}, 429],
  ['its turn in the rate', { rateLimit: { calls: 1, perMs: 3_600_000 } }, 503],
] as const) {
  test(`a call that waits for ${name} rejects at once when its signal aborts, and leaves nothing behind`, async (t) => {
    const waiting = Promise.withResolvers<void>()
    const clock = new StoppedClock(waiting.resolve)
    const subject = await new Subject(t, clock).serve((_before, response) => response.writeHead(status).end())
    const controller = new AbortController()
    const call = subject.send({ policy, signal: controller.signal })
    await waiting.promise
    controller.abort(new Error('stopping'))
    await assert.rejects(call, /stopping/)
    assert.equal(clock.pending, 0)
    assert.deepEqual(getEventListeners(controller.signal, 'abort'), [])
  })
}

test('closing ends the calls that wait, as failures', async (t) => {
  const waiting = Promise.withResolvers<void>()
  const clock = new StoppedClock(waiting.resolve)
  const subject = await new Subject(t, clock).serve((_before, response) => response.writeHead(429).end())
  const call = subject.failure()
  await waiting.promise
  const next = subject.failure()
  await subject.transport.close()
  const failure = { reason: 'network', detail: 'connection closed' }
  assert.deepEqual(await Promise.all([call, next, subject.failure()]), [failure, failure, failure])
  assert.equal(clock.pending, 0)
})

test('the duration is that of the successful try', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const subject = await new Subject(t).serve((before, response) => {
    now += before === 0 ? 300 : 20
    response.writeHead(before === 0 ? 503 : 200).end('1')
  })
  const answer = await subject.send()
  assert.equal(answer.ok && answer.value.durationMs, 20)
})

test('an edited policy applies to calls that wait already', async (t) => {
  const held: ServerResponse[] = []
  const arrived = [1, 3].map((count) => ({ count, ...Promise.withResolvers<void>() }))
  const subject = await new Subject(t).serve((before, response) => {
    held.push(response)
    arrived.find(({ count }) => count === before + 1)?.resolve()
  })
  const calls = [1, 2].map(() => subject.failure({ policy: { concurrency: 1 } }))
  await arrived[0]?.promise
  calls.push(subject.failure({ policy: { concurrency: 3 } }))
  await arrived[1]?.promise
  assert.equal(held.length, 3)
  for (const response of held) response.end('1')
  assert.deepEqual(await Promise.all(calls), [null, null, null])
})
