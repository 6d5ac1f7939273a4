import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createClient } from '../../src/client/client.ts'
import { createApp, type AppOptions } from '../../src/http/app.ts'
import { startMaterialize, type MaterializeRequest } from '../../src/sheet/runs/materialize.ts'
import { OrphanRecovery } from '../../src/sheet/runs/coordination/orphan-recovery.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { CSRF, listen, startApp } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { RawClient } from '../support/raw-client.ts'
import { sharedLookupSheet, type SharedSheet } from '../support/shared-sheet.ts'

const RUN_SHARED = join(import.meta.dirname, '..', 'support', 'run-shared.ts')
const REQUEST: MaterializeRequest = { targets: null, recordIds: null, force: false, actor: 'agent:runner' }

interface Server {
  readonly sheet: Sheet
  readonly app: FastifyInstance
  readonly port: number
}

async function serve(
  t: TestContext,
  shared: SharedSheet,
  options: Partial<AppOptions> = {},
): Promise<Server> {
  const sheet = await shared.open()
  const app = createApp(sheet, options)
  onEnd(t, () => app.close())
  return { sheet, app, port: await listen(app) }
}

function numbered(count: number): { id: string; a: string }[] {
  return Array.from({ length: count }, (_, index) => ({ id: `${index}`, a: `${index}` }))
}

interface Told {
  readonly id: number | null
  readonly kind: string
  readonly data: Record<string, unknown>
}

/** A client of an event stream. */
class Listener {
  readonly client: RawClient

  private constructor(client: RawClient) {
    this.client = client
  }

  static async open(t: TestContext, port: number, path: string, lastId?: number): Promise<Listener> {
    const client = await RawClient.open(t, port)
    const header = lastId === undefined ? '' : `Last-Event-ID: ${lastId}\r\n`
    client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`)
    await client.waitFor((text) => text.includes(': connected\n\n'))
    return new Listener(client)
  }

  /** The stream so far, without the head of the answer and the marks of chunks. */
  get text(): string {
    let rest = this.client.received.slice(this.client.received.indexOf('\r\n\r\n') + 4)
    let text = ''
    for (;;) {
      const line = rest.indexOf('\r\n')
      const size = parseInt(rest.slice(0, line), 16)
      if (line === -1 || !(size > 0) || rest.length < line + 2 + size) return text
      text += rest.slice(line + 2, line + 2 + size)
      rest = rest.slice(line + 2 + size + 2)
    }
  }

  get told(): Told[] {
    return [...this.text.matchAll(/(?:id: (\d+)\n)?event: (\S+)\ndata: (.*)\n\n/g)].map(
      ([, id, kind, data]) => ({
        id: id === undefined ? null : Number(id),
        kind: String(kind),
        data: JSON.parse(String(data)) as Record<string, unknown>,
      }),
    )
  }

  async until(is: (told: readonly Told[]) => boolean): Promise<Told[]> {
    await this.client.waitFor(() => is(this.told))
    return this.told
  }

  async end(): Promise<Told[]> {
    await this.client.end()
    return this.told
  }
}

function has(kind: string, count = 1): (told: readonly Told[]) => boolean {
  return (told) => told.filter((frame) => frame.kind === kind).length >= count
}

/** The records whose stored cells frames tell of, as often as they do. */
function recordsOf(told: readonly Told[]): string[] {
  return told
    .flatMap(({ kind, data }) =>
      kind === 'run.cells' ? (data['cells'] as { record_id: string; state: string }[]) : [],
    )
    .filter(({ state }) => state !== 'running')
    .map(({ record_id: id }) => id)
}

function sorted(ids: Iterable<string>): string[] {
  return [...ids].toSorted((a, b) => Number(a) - Number(b))
}

test('frames of a run reach the subscribers of every server, with the same ids in the same order', async (t) => {
  const shared = await sharedLookupSheet(t, numbered(2))
  const servers = [await serve(t, shared), await serve(t, shared)] as const
  const listeners = await Promise.all(servers.map(({ port }) => Listener.open(t, port, '/events')))
  for (const { client } of listeners)
    await client.waitFor((text) => /: connected\n\n\r\n[0-9a-f]+\r\nid: 0\n\n/.test(text))
  for (const { app } of servers) {
    const payload = { actor: 'agent:Zoë' }
    const answer = await app.inject({ method: 'POST', url: '/api/materialize', headers: CSRF, payload })
    assert.equal(answer.statusCode, 200, answer.body)
  }
  const [one, other] = await Promise.all(
    listeners.map((listener) => listener.until(has('materialize.end', 2))),
  )
  assert.deepEqual(one, other)
  // A server publishes the end of its run after it has answered: the other one may publish the start of the next run before.
  const started = one?.filter(({ kind }) => kind === 'materialize.start')
  const ended = one?.filter(({ kind }) => kind === 'materialize.end')
  assert.equal(started?.length, 2)
  assert.deepEqual(ended?.map(({ data }) => data['materialized']).toSorted(), [0, 2])
  const ids = one?.map(({ id }) => id ?? 0) ?? []
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  )
  assert.equal(new Set(ids).size, 4)
})

test('a reconnecting client gets the frames that it missed from any server, once, also if it had received none', async (t) => {
  const shared = await sharedLookupSheet(t, numbered(1))
  const [one, other] = [await serve(t, shared), await serve(t, shared)]
  const run = async (): Promise<void> => {
    await (
      await startMaterialize(one.sheet, { ...REQUEST, force: true })
    ).done
  }
  const first = await Listener.open(t, one.port, '/events')
  await run()
  const told = await first.until(has('materialize.end'))
  first.client.socket.destroy()
  await run()
  for (const { port } of [one, other]) {
    const again = await Listener.open(t, port, '/events', told.at(-1)?.id ?? 0)
    const missed = await again.until(has('materialize.end'))
    assert.deepEqual(
      missed.map(({ kind }) => kind),
      ['materialize.start', 'materialize.end'],
    )
    assert.ok((missed[0]?.id ?? 0) > (told[1]?.id ?? 0))
    const fromTheStart = await Listener.open(t, port, '/events', 0)
    assert.deepEqual(await fromTheStart.until(has('materialize.end', 2)), [...told, ...missed])
  }
})

test('a client that missed removed frames, or comes from another store, is notified of that', async (t) => {
  const shared = await sharedLookupSheet(t, numbered(1))
  const { sheet, port } = await serve(t, shared)
  const listener = await Listener.open(t, port, '/events', 99)
  const told = await listener.until(has('frames.missed'))
  assert.deepEqual(told, [{ id: 0, kind: 'frames.missed', data: { kind: 'frames.missed' } }])
  await (
    await startMaterialize(sheet, REQUEST)
  ).done
  await listener.until(has('materialize.end'))
})

test('a run can be watched on every server, with its cells, and a reconnecting client misses none of them', async (t) => {
  const shared = await sharedLookupSheet(t, numbered(60))
  const [one, other] = [await serve(t, shared), await serve(t, shared)]
  const hold = shared.api.hold('/b/50')
  onEnd(t, () => hold.release())
  const { id, done } = await startMaterialize(one.sheet, REQUEST)
  const path = `/api/runs/${id}/events`
  const watching = await Promise.all([one, other].map(({ port }) => Listener.open(t, port, path)))
  const leaving = await Listener.open(t, other.port, path)
  await hold.arrived()
  const before = await leaving.until((told) => recordsOf(told).length > 10)
  leaving.client.socket.destroy()
  hold.release()
  await done
  const after = await Listener.open(t, one.port, path, before.findLast((frame) => frame.id !== null)?.id ?? 0)
  const rest = await after.end()
  assert.equal(rest.at(-1)?.kind, 'run.end')
  assert.equal(rest.at(-1)?.data['materialized'], 60)
  const [atOne, atOther] = await Promise.all(watching.map((listener) => listener.end()))
  for (const told of [atOne ?? [], atOther ?? []]) {
    assert.deepEqual([told[0]?.kind, told[0]?.id, told.at(-1)?.kind], ['run.progress', null, 'run.end'])
    assert.equal(has('run.end', 2)(told), false)
  }
  assert.deepEqual(sorted(recordsOf([...before, ...rest])), sorted(numbered(60).map((record) => record.id)))
  const late = await Listener.open(t, other.port, path)
  assert.deepEqual(
    (await late.end()).map(({ kind }) => kind),
    ['run.end'],
  )
})

test('a run is cancelled from any server', async (t) => {
  const shared = await sharedLookupSheet(t, numbered(3))
  const [one, other] = [await serve(t, shared), await serve(t, shared)]
  const hold = shared.api.hold('*')
  onEnd(t, () => hold.release())
  const { id, done } = await startMaterialize(one.sheet, REQUEST)
  const stopped = assert.rejects(done, { message: 'the run was cancelled by "user:ann"' })
  await hold.arrived()
  const listener = await Listener.open(t, other.port, `/api/runs/${id}/events`)
  const payload = { actor: 'user:ann' }
  const url = `/api/runs/${id}/cancel`
  const answer = await other.app.inject({ method: 'POST', url, headers: CSRF, payload })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.json<{ state: string }>().state, 'cancelled')
  await stopped
  assert.equal((await listener.end()).at(-1)?.data['state'], 'cancelled')
})

test('a client that watches a run whose server was killed gets its end from another server', async (t) => {
  const shared = await sharedLookupSheet(t, numbered(3))
  const { sheet, port } = await serve(t, shared)
  const recovery = new OrphanRecovery(sheet)
  onEnd(t, () => recovery.stop())
  const hold = shared.api.hold('*')
  onEnd(t, () => hold.release())
  const runner = spawn(process.execPath, [RUN_SHARED, shared.directory, shared.url], { stdio: 'ignore' })
  const exited = once(runner, 'exit')
  onEnd(t, () => runner.kill('SIGKILL'))
  await Promise.race([hold.arrived(), exited.then(() => assert.fail('it ended early'))])
  const listener = await Listener.open(t, port, '/api/runs/1/events')
  await listener.until(has('run.progress'))
  runner.kill('SIGKILL')
  hold.release()
  const told = await listener.end()
  assert.deepEqual([told.at(-1)?.kind, told.at(-1)?.data['state']], ['run.end', 'finished'])
  assert.deepEqual(sorted(recordsOf(told)), ['0', '1', '2'])
  const late = await Listener.open(t, port, '/api/runs/1/events', 0)
  assert.deepEqual((await late.end()).at(-1)?.data['state'], 'finished')
})

test('D40: subscribers of every server get the ends of the runs of a stopping server', async (t) => {
  const shared = await sharedLookupSheet(t, numbered(3))
  const [one, other] = [await serve(t, shared), await serve(t, shared)]
  const hold = shared.api.hold('*')
  onEnd(t, () => hold.release())
  const { done } = await startMaterialize(one.sheet, REQUEST)
  const stopped = assert.rejects(done)
  await hold.arrived()
  const listeners = await Promise.all([one, other].map(({ port }) => Listener.open(t, port, '/events')))
  await one.sheet.stopRuns()
  await one.app.close()
  await stopped
  const told = await listeners[0]?.end()
  assert.deepEqual(
    told?.map(({ kind }) => kind),
    ['materialize.error'],
  )
  assert.deepEqual(await listeners[1]?.until(has('materialize.error')), told)
})

test('a stalled client of a shared sheet gets every frame in the end', async (t) => {
  const shared = await sharedLookupSheet(t, numbered(1))
  const { sheet, port } = await serve(t, shared)
  const [stalled, reader] = [await Listener.open(t, port, '/events'), await Listener.open(t, port, '/events')]
  stalled.client.socket.pause()
  const count = 300
  for (let number = 0; number < count; number += 1) {
    const message = `${number} ${'x'.repeat(50_000)}`
    sheet.publish({ kind: 'materialize.error', ts: '', actor: 'a', errorType: 'ServiceError', message })
    if (number % 20 !== 19) continue
    await reader.client.waitFor((text) => text.includes(`"message":"${number} `) && text.endsWith('\n\n\r\n'))
    reader.client.received = ''
  }
  stalled.client.socket.resume()
  const text = await stalled.client.waitFor((some) => some.includes(`"message":"${count - 1} `))
  assert.deepEqual(
    [...text.matchAll(/"message":"(\d+) /g)].map((match) => Number(match[1])),
    Array.from({ length: count }, (_, index) => index),
  )
})

test('a client of the library that loses its connection gets each frame once', async (t) => {
  const shared = await sharedLookupSheet(t, numbered(1))
  const { sheet, port, app } = await serve(t, shared)
  const numbers: number[] = []
  const stop = new AbortController()
  onEnd(t, () => stop.abort())
  const publish = (number: number): void =>
    sheet.publish({
      kind: 'materialize.error',
      ts: '',
      actor: 'a',
      errorType: 'ServiceError',
      message: `${number}`,
    })
  const { promise: connected, resolve } = Promise.withResolvers<void>()
  const client = createClient({
    baseUrl: `http://127.0.0.1:${port}`,
    fetch: async (...request) => {
      const response = await fetch(...request)
      resolve()
      return response
    },
  })
  const reading = (async () => {
    for await (const frame of client.events({ signal: stop.signal })) {
      if (frame.kind !== 'materialize.error') continue
      numbers.push(Number(frame.message))
      if (numbers.length === 1) {
        app.server.closeAllConnections()
        for (const number of [2, 3, 4]) publish(number)
      }
      if (frame.message === '4') break
    }
  })()
  await connected
  publish(1)
  await reading
  assert.deepEqual(numbers, [1, 2, 3, 4])
})

test('a sheet without other servers has frames without ids, whatever id a client sends', async (t) => {
  const { app, sheet } = await startApp(t)
  const port = await listen(app)
  const listener = await Listener.open(t, port, '/events', 1)
  await (
    await startMaterialize(sheet, { ...REQUEST, recordIds: ['a'] })
  ).done
  const told = await listener.until(has('materialize.end'))
  assert.deepEqual(
    told.map(({ id, kind }) => [id, kind]),
    [
      [null, 'materialize.start'],
      [null, 'materialize.end'],
    ],
  )
  assert.doesNotMatch(listener.text, /^id:/m)
  assert.match(listener.text, /^: connected\n\nevent: materialize\.start\n/)
})
