import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { RequestLimiter } from './request-limiter.ts'

suite('the request limiter', () => {
  const forever = new AbortController().signal

  /** Actions that end on request, and the order in which they began. */
  class Work {
    readonly limiter = new RequestLimiter(3, 1)
    readonly begun: string[] = []
    readonly #ends = new Map<string, () => void>()

    take(name: string, signal = forever): Promise<string> {
      const action = (): Promise<string> => {
        this.begun.push(name)
        return new Promise((resolve) => this.#ends.set(name, () => resolve(name)))
      }
      return this.limiter.run(action, signal)
    }

    async end(name: string): Promise<void> {
      this.#ends.get(name)?.()
      await turn()
    }
  }

  test('three at a time, in order', async () => {
    const work = new Work()
    for (const name of 'abcde') void work.take(name)
    await turn()
    assert.equal(work.begun.join(''), 'abc')
    await work.end('b')
    assert.equal(work.begun.join(''), 'abcd')
    await work.end('a')
    assert.equal(work.begun.join(''), 'abcde')
  })

  test('one at a time after a slow response', async (t) => {
    let now = 0
    t.mock.method(performance, 'now', () => now)
    const work = new Work()
    for (const name of 'abcdef') void work.take(name)
    await turn()
    now = 201
    for (const name of 'ab') await work.end(name)
    assert.equal(work.begun.join(''), 'abc')
    await work.end('c')
    assert.equal(work.begun.join(''), 'abcd')
    await work.end('d')
    assert.equal(work.begun.join(''), 'abcdef', 'and more again after a quick one')
  })

  test('a request that is aborted while it waits never runs', async () => {
    const work = new Work()
    for (const name of 'abc') void work.take(name)
    const given = new AbortController()
    const waiting = work.take('d', given.signal)
    void work.take('e')
    given.abort()
    await assert.rejects(waiting)
    await assert.rejects(work.take('f', given.signal))
    await work.end('a')
    assert.equal(work.begun.join(''), 'abce')
  })

  test('a failed request releases its permit', async () => {
    const limiter = new RequestLimiter(3, 3)
    for (let count = 0; count < 5; count += 1) {
      await assert.rejects(
        limiter.run(() => Promise.reject(new Error('no')), forever),
        /no/,
      )
    }
    assert.equal(await limiter.run(() => Promise.resolve(1), forever), 1)
  })
})
