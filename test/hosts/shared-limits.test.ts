import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { HostPolicy } from '../../src/derivation/definition/host-policies.ts'
import { onEnd } from '../support/on-end.ts'
import { freshTables } from '../support/shared-tables.ts'

const CALLER = join(import.meta.dirname, '../support/call-host.ts')

/** The interval at which the host checks whether it is delayed. */
const TICK_MS = 5

interface Call {
  /** The process that made it. */
  readonly from: number
  /** It did not come before: the host was not held up then. */
  readonly notBefore: number
  /** The time at which the host received it. */
  readonly at: number
  readonly response: ServerResponse
}

/** A host that writes down who calls it, and processes that call it as fast as they may. */
class CalledHost {
  readonly calls: Call[] = []
  readonly underWay = new Set<Call>()
  /** The most calls that were under way at a time. */
  most = 0
  /** Answers a call; by default at once. */
  answer: (call: Call) => void = ({ response }) => void response.end('{}')
  readonly #t: TestContext
  readonly #store: string
  #url = ''
  #wake: () => void = () => undefined

  private constructor(t: TestContext, store: string) {
    this.#t = t
    this.#store = store
  }

  static async start(t: TestContext): Promise<CalledHost> {
    const host = new CalledHost(t, (await freshTables(t)).url)
    let [notBefore, ticked] = [performance.now(), performance.now()]
    const ticks = setInterval(() => ([notBefore, ticked] = [ticked, performance.now()]), TICK_MS)
    onEnd(t, () => clearInterval(ticks))
    const server = createServer((request, response) => {
      const from = Number(request.headers['x-process'])
      const call = { from, notBefore, at: performance.now(), response }
      host.calls.push(call)
      host.underWay.add(call)
      host.most = Math.max(host.most, host.underWay.size)
      response.on('close', () => host.underWay.delete(call))
      host.answer(call)
      host.#wake()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onEnd(t, () => server.close().closeAllConnections())
    host.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    return host
  }

  /** Starts so many processes that call it. */
  callers(count: number, policy: Partial<HostPolicy>): ChildProcess[] {
    return Array.from({ length: count }, () => {
      const caller = fork(CALLER, [this.#store, this.#url, JSON.stringify(policy)])
      onEnd(this.#t, () => caller.kill('SIGKILL'))
      return caller
    })
  }

  /** Waits until something holds of the calls so far. */
  async until(holds: (calls: readonly Call[]) => boolean): Promise<void> {
    while (!holds(this.calls)) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }

  /** Waits until each of these has made so many calls, counted from now. */
  untilEach(callers: readonly ChildProcess[], count: number): Promise<void> {
    const first = this.calls.length
    return this.until((calls) => {
      const later = calls.slice(first)
      return callers.every(({ pid }) => later.filter(({ from }) => from === pid).length >= count)
    })
  }

  /**
   * The most calls that came for certain within one window of so many milliseconds: those that came while the host was held
   * up it hears of all at once.
   */
  mostWithin(ms: number): number {
    return Math.max(
      ...this.calls.map(
        ({ at }) => this.calls.filter((other) => other.notBefore > at - ms && other.at <= at).length,
      ),
    )
  }
}

/** Answers a little later, so that calls are under way together. */
function takesMs(ms: number): CalledHost['answer'] {
  return ({ response }) => void setTimeout(() => response.end('{}'), ms)
}

test('of 50 calls per second over four processes never one more arrives in any second, and all processes call', async (t) => {
  const host = await CalledHost.start(t)
  const callers = host.callers(4, { rateLimit: { calls: 50, perMs: 1000 }, concurrency: 64 })
  await host.untilEach(callers, 40)
  assert.ok(host.mostWithin(1000) <= 50, String(host.mostWithin(1000)))
})

test('never more than three calls run at a time over four processes, and all processes call', async (t) => {
  const host = await CalledHost.start(t)
  host.answer = takesMs(20)
  const callers = host.callers(4, { concurrency: 3 })
  await host.untilEach(callers, 30)
  assert.equal(host.most, 3)
})

test('one call at a time over three processes is one, and each process calls', async (t) => {
  const host = await CalledHost.start(t)
  host.answer = takesMs(5)
  const callers = host.callers(3, { concurrency: 1 })
  await host.untilEach(callers, 10)
  assert.equal(host.most, 1)
})

test('the permits of a killed process are available to the others', async (t) => {
  const host = await CalledHost.start(t)
  host.answer = () => undefined
  const [killed] = host.callers(1, { concurrency: 2 })
  await host.until((calls) => calls.length === 2)
  const others = host.callers(2, { concurrency: 2 })
  killed?.kill('SIGKILL')
  host.answer = takesMs(5)
  await host.untilEach(others, 5)
  assert.equal(host.most, 2)
})

test('the permit of a halted process is available to the others, and it begins no call with it when it continues', async (t) => {
  const host = await CalledHost.start(t)
  host.answer = takesMs(10)
  const callers = host.callers(3, { concurrency: 3 })
  await host.untilEach(callers, 5)
  const [halted] = callers
  // While it waits for a response: it may be halted between the check of its permit and the request as well, which nothing can prevent.
  host.answer = (call) => {
    if (call.from === halted?.pid) halted.kill('SIGSTOP')
    takesMs(10)(call)
  }
  await host.until(() => [...host.underWay].filter(({ from }) => from !== halted?.pid).length === 3)
  host.answer = takesMs(10)
  host.most = 0
  halted?.kill('SIGCONT')
  await host.untilEach(callers, 20)
  assert.ok(host.most <= 3, String(host.most))
})

test('a 429 with Retry-After for one process pauses the others', async (t) => {
  const host = await CalledHost.start(t)
  const policy = { retries: 3, concurrency: 4, rateLimit: { calls: 20, perMs: 1000 } }
  const callers = host.callers(4, policy)
  await host.untilEach(callers, 3)
  let refusedAt = Infinity
  host.answer = ({ response, at }) => {
    refusedAt = Math.min(refusedAt, at)
    response.writeHead(429, { 'retry-after': '6' }).end()
  }
  await host.until(() => refusedAt < Infinity)
  host.answer = ({ response }) => void response.end('{}')
  await host.untilEach(callers, 3)
  // Whoever was told last had a second for it, and what is slow on its way has as much again.
  const early = host.calls.filter(({ at }) => at > refusedAt + 2000 && at < refusedAt + 6000)
  assert.equal(early.length, 0)
})
