import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startPostgres } from '../../../../test/support/postgres.ts'
import { freshTables } from '../../../../test/support/shared-tables.ts'
import { onEnd } from '../../../../test/support/on-end.ts'
import type { HostLimits, HostListener, HostShare, SharedPause } from '../../shared-hosts.ts'
import { Database } from '../database/database.ts'
import { hostNumber, takeSlots } from './host-table.ts'
import { PostgresHosts } from './postgres-hosts.ts'
import { parseStoreUrl } from '../database/store-url.ts'

const ORIGIN = 'https://api.example'

/** A process with calls to make: it begins as many as it may, and ends them on request. */
class Caller implements HostListener {
  readonly hosts: PostgresHosts
  readonly share: HostShare
  readonly pauses: (SharedPause | 'end')[] = []
  underWay = 0
  #waiting = 0
  #wake: () => void = () => undefined

  constructor(t: TestContext, url: string, limits: Partial<HostLimits> = {}) {
    const database = new Database(parseStoreUrl(url))
    this.hosts = new PostgresHosts(database)
    onEnd(t, async () => {
      await this.hosts.close()
      await database.close()
    })
    this.share = this.hosts.join(ORIGIN, this)
    this.share.setLimits({ concurrency: 8, rate: null, ...limits })
  }

  waiting(): number {
    return this.#waiting
  }

  requests(): number {
    return this.#waiting
  }

  onChange(): void {
    while (this.#waiting > 0 && this.share.hasPermit()) {
      this.share.begin()
      this.#waiting -= 1
      this.underWay += 1
    }
    this.#wake()
  }

  onPause(pause: SharedPause): void {
    this.pauses.push(pause)
    this.#wake()
  }

  onPauseEnd(): void {
    this.pauses.push('end')
    this.#wake()
  }

  /** Adds waiting calls. */
  want(calls: number): void {
    this.#waiting = calls
    this.onChange()
  }

  /** Ends so many calls; others that wait may begin. */
  end(calls: number): void {
    for (let ended = 0; ended < calls; ended += 1) {
      this.underWay -= 1
      this.share.end()
    }
    this.onChange()
  }

  async until(holds: (caller: this) => boolean): Promise<void> {
    while (!holds(this)) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }
}

async function callers(t: TestContext, count: number, limits: Partial<HostLimits> = {}): Promise<Caller[]> {
  const { url } = await freshTables(t)
  return Array.from({ length: count }, () => new Caller(t, url, limits))
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index]
  assert.ok(item !== undefined)
  return item
}

test('a process that is alone in calling has all permits, and requests no more while it has', async (t) => {
  const { url, database } = await freshTables(t)
  const caller = new Caller(t, url)
  caller.want(100)
  await caller.until(({ underWay }) => underWay === 8)
  assert.equal(caller.waiting(), 92)
  for (let call = 0; call < 92; call += 1) caller.end(1)
  assert.deepEqual([caller.underWay, caller.waiting()], [8, 0])
  assert.equal((await database.get('SELECT origin FROM "$host"'))?.['origin'], ORIGIN)
})

test('two processes share the permits as calls of the other end, and never exceed them', async (t) => {
  const [one, other] = (await callers(t, 2)) as [Caller, Caller]
  one.want(100)
  await one.until(({ underWay }) => underWay === 8)
  other.want(100)
  for (let had = 8; had > 4; had -= 1) {
    // It is asked to return permits, and its calls continue until then.
    await one.until((caller) => {
      if (caller.underWay === had) caller.end(1)
      return caller.underWay < had
    })
    await other.until(({ underWay }) => underWay === 9 - had)
  }
  assert.deepEqual([one.underWay, other.underWay], [4, 4])
  other.want(0)
  other.end(4)
  await one.until(({ underWay }) => underWay === 8)
})

test('permits that one process does not use are available to the others', async (t) => {
  const [little, much] = (await callers(t, 2)) as [Caller, Caller]
  little.want(2)
  await little.until(({ underWay }) => underWay === 2)
  much.want(100)
  await much.until(({ underWay }) => underWay === 6)
})

test('one permit for three processes is used by each, one at a time', async (t) => {
  const all = await callers(t, 3, { concurrency: 1 })
  for (const caller of all) caller.want(1000)
  const had = new Set<Caller>()
  while (had.size < 3) {
    const who = await Promise.race(
      all.map(async (caller) => {
        await caller.until(({ underWay }) => underWay === 1)
        return caller
      }),
    )
    assert.equal(all.filter(({ underWay }) => underWay > 0).length, 1)
    had.add(who)
    // The responses to the others arrive in between.
    await new Promise(setImmediate)
    who.end(1)
  }
})

test('permits of a closing process are available to the others', async (t) => {
  const [one, other] = (await callers(t, 2)) as [Caller, Caller]
  one.want(8)
  await one.until(({ underWay }) => underWay === 8)
  await one.hosts.close()
  assert.equal(one.share.hasPermit(), false)
  other.want(8)
  await other.until(({ underWay }) => underWay === 8)
})

test('while its connection is killed a process keeps its permits, and requests more after reconnecting', async (t) => {
  const { url, database } = await freshTables(t)
  const [one, other] = [new Caller(t, url), new Caller(t, url)]
  one.want(3)
  await one.until(({ underWay }) => underWay === 3)
  await database.all(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL',
  )
  other.want(100)
  await other.until(({ underWay }) => underWay === 5)
})

test('while the database is unavailable calls stop soon, and they continue when it is back', async (t) => {
  const { url } = await startPostgres()
  const { database } = await freshTables(t)
  await database.exec('CREATE DATABASE away')
  const inAway = await freshTables(t, url('hosts', { database: 'away' }))
  const caller = new Caller(t, inAway.url)
  caller.want(1)
  await caller.until(({ underWay }) => underWay === 1)
  await database.exec('ALTER DATABASE away ALLOW_CONNECTIONS false')
  await database.all("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'away'")
  while (caller.share.hasPermit()) await new Promise(setImmediate)
  caller.want(1)
  caller.end(1)
  assert.equal(caller.underWay, 0)
  await database.exec('ALTER DATABASE away ALLOW_CONNECTIONS true')
  await caller.until(({ underWay }) => underWay === 1)
})

test('a pause is reported to all processes, later ones included, and so is its end; a shorter one is not', async (t) => {
  const { url } = await freshTables(t)
  const [one, other] = [new Caller(t, url), new Caller(t, url)]
  for (const caller of [one, other]) caller.want(1)
  for (const caller of [one, other]) await caller.until(({ underWay }) => underWay === 1)
  one.share.pause(3_000_000, 503)
  await other.until(({ pauses }) => pauses.length === 1)
  const [pause] = other.pauses
  assert.ok(pause !== undefined && pause !== 'end')
  assert.deepEqual([pause.status, pause.askedMs], [503, 3_000_000])
  assert.ok(pause.leftMs > 0 && pause.leftMs <= 3_000_000)
  // By the process that ends the pause below, so that it is reported before, or not at all.
  other.share.pause(1000, 429)
  const later = new Caller(t, url)
  later.want(1)
  await later.until(({ pauses }) => pauses.length === 1)
  assert.equal((later.pauses[0] as SharedPause).status, 503)
  other.share.endPause()
  for (const caller of [one, later]) await caller.until(({ pauses }) => pauses.at(-1) === 'end')
  assert.equal(other.pauses.filter((each) => each !== 'end').length, 1)
})

test('slots for requests are evenly spaced over all processes', async (t) => {
  const { database } = await freshTables(t)
  const host = await hostNumber(database, ORIGIN)
  const rate = { spacingMs: 20, playMs: 50 }
  const given = await Promise.all(
    [3, 1, 5, 1, 2].map(async (count) => ({
      count,
      slots: await takeSlots(database, host, { ...rate, count }),
    })),
  )
  const moments = given
    .flatMap(({ count, slots }) =>
      Array.from({ length: count }, (_, index) => (slots?.last ?? 0) - index * 20),
    )
    .toSorted((a, b) => a - b)
  for (const [index, moment] of moments.slice(1).entries())
    assert.ok(moment - at(moments, index) >= 20 - 1e-3)
  const { last = 0, now = 0 } = (await takeSlots(database, host, { spacingMs: 20, count: 1 })) ?? {}
  assert.ok(last >= now - 1)
})
