import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { DEFAULT_HOST_POLICY, type HostPolicy } from '../definition/host-policies.ts'
import { ResourceQueue, type Permit } from './resource-queue.ts'
import { startHttp } from '../transport/testing/local-server.ts'
import { StubShare } from '../testing/stub-share.ts'
import { JumpingClock, StoppedClock } from '../testing/test-clock.ts'
import type { SendResult } from '../transport/call/transport.ts'
import { UndiciTransport } from '../transport/network/undici-transport.ts'

const HOUR = 3_600_000

/** A queue with a stub share, and the calls that got a permit. */
class SharedLine {
  readonly share = new StubShare()
  readonly queue: ResourceQueue
  readonly log: string[] = []
  readonly permits: Permit[] = []
  #order = 0

  constructor(policy: Partial<HostPolicy> = {}) {
    const clock = new StoppedClock(() => undefined)
    this.queue = new ResourceQueue(clock, (listener) => this.share.join('here', listener))
    this.queue.adopt({ ...DEFAULT_HOST_POLICY, ...policy })
  }

  async join(name: string, signal = new AbortController().signal): Promise<void> {
    void this.#await(name, signal)
    await setImmediate()
  }

  async #await(name: string, signal: AbortSignal): Promise<void> {
    this.#order += 1
    try {
      const permit = await this.queue.permit({ order: this.#order, notBefore: -Infinity, signal })
      this.log.push(permit.ok ? name : `${name}: ${permit.error}`)
      if (permit.ok) this.permits.push(permit.value)
    } catch (error) {
      this.log.push(`${name}: ${String(error)}`)
    }
  }

  async give(places: number): Promise<void> {
    this.share.give(places)
    await setImmediate()
  }

  saw(...names: readonly string[]): void {
    assert.deepEqual(this.log.splice(0), names)
  }
}

test('calls wait until the share has a permit, and a released permit is used next', async () => {
  const line = new SharedLine()
  for (const name of ['a', 'b', 'c']) await line.join(name)
  line.saw()
  assert.equal(line.share.listener.waiting(), 3)
  await line.give(1)
  line.saw('a')
  line.permits[0]?.end()
  await setImmediate()
  line.saw('b')
  assert.equal(line.share.listener.waiting(), 1)
})

test('the limits of the newest policy are those of the share, a rate as evenly spaced slots', () => {
  const line = new SharedLine({ concurrency: 3, rateLimit: { calls: 10, perMs: 1000 } })
  assert.deepEqual(line.share.limits, { concurrency: 3, rate: { spacingMs: 111, playMs: 50 } })
  line.queue.adopt({ ...DEFAULT_HOST_POLICY, concurrency: 5 })
  assert.deepEqual(line.share.limits, { concurrency: 5, rate: null })
  const share = new StubShare()
  new ResourceQueue(new JumpingClock(), (listener) => share.join('here', listener)).adopt(DEFAULT_HOST_POLICY)
  assert.deepEqual(share.limits, { concurrency: 8, rate: null })
})

test('a share never starts more than the policy allows', async () => {
  const line = new SharedLine({ concurrency: 2 })
  for (const name of ['a', 'b', 'c']) await line.join(name)
  await line.give(10)
  line.saw('a', 'b')
})

test('an aborted wait for a share, for a permit or a slot, ends at once', async () => {
  for (const places of [0, 1]) {
    const line = new SharedLine()
    line.share.places = places
    line.share.slotWaitMs = Infinity
    const controller = new AbortController()
    await line.join('a', controller.signal)
    line.saw()
    controller.abort('stopping')
    await setImmediate()
    line.saw('a: stopping')
    assert.equal(line.share.listener.requests(), 0)
  }
})

test('a pause that the host asked of another process applies here, and so does its end', async () => {
  const line = new SharedLine({ retries: 1 })
  line.share.places = 8
  line.share.listener.onPause({ status: 429, askedMs: 5000, leftMs: 1000 })
  await line.join('a')
  line.saw()
  assert.equal(line.share.listener.waiting(), 0)
  line.share.listener.onPauseEnd()
  await setImmediate()
  line.saw('a')
  line.share.listener.onPause({ status: 503, askedMs: 2 * HOUR, leftMs: 2 * HOUR - 1000 })
  await line.join('b')
  line.saw('b: 503')
  assert.deepEqual(line.share.told, ['join here'])
})

test('a pause that the host asks for here is reported to the others', () => {
  const line = new SharedLine({ retries: 1 })
  line.queue.pause(2000, 429)
  assert.deepEqual(line.share.told, ['join here', 'pause 2000 429'])
})

test('closing starts all calls that wait for a share, and leaves the share', async () => {
  const line = new SharedLine()
  line.share.slotWaitMs = Infinity
  await line.join('a')
  line.queue.close()
  await line.join('b')
  line.saw('a', 'b')
  assert.deepEqual(line.share.told, ['join here', 'leave'])
})

interface Far {
  readonly requests: () => number
  readonly connections: () => number
  send(path?: string): Promise<SendResult>
}

/** Starts a host that redirects `/old`, and a transport that shares it. */
async function farWith(t: TestContext, share: StubShare): Promise<Far> {
  let requests = 0
  const server = await startHttp(({ url }, response) => {
    requests += 1
    if (url === '/old') response.writeHead(307, { location: '/new' })
    response.end('{}')
  })
  t.after(() => server.close())
  const transport = new UndiciTransport({ clock: new JumpingClock() })
  t.after(() => transport.close())
  const request = { method: 'POST', headers: {}, body: '{}', secretHeaders: new Set<string>() } as const
  return {
    requests: () => requests,
    connections: server.connections,
    send: (path = '/') =>
      transport.send(
        { ...request, url: `${server.origin}${path}` },
        { signal: new AbortController().signal, policy: DEFAULT_HOST_POLICY, hosts: share },
      ),
  }
}

test('a request whose slot has passed is not sent; it takes another slot, on the same connection', async (t) => {
  const share = new StubShare()
  share.places = 1
  share.over.push(true, true, false)
  const far = await farWith(t, share)
  assert.ok((await far.send()).ok)
  assert.equal(far.requests(), 1)
  assert.equal(far.connections(), 1)
  assert.deepEqual(share.over, [])
  assert.equal(share.places, 0)
  await setImmediate()
  assert.equal(share.places, 1)
})

test('a redirect within the host takes a slot too, and another if that has passed', async (t) => {
  const share = new StubShare()
  share.places = 1
  share.over.push(false, true, true, false)
  const far = await farWith(t, share)
  assert.ok((await far.send('/old')).ok)
  assert.equal(far.requests(), 2)
  assert.deepEqual(share.over, [])
})

test('processes share each origin separately: it is joined once', async (t) => {
  const share = new StubShare()
  share.places = 8
  const far = await farWith(t, share)
  await Promise.all([far.send(), far.send()])
  await far.send()
  assert.equal(share.told.length, 1)
  assert.match(share.told[0] ?? '', /^join http:\/\/127\.0\.0\.1:\d+$/)
})
