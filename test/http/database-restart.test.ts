import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../src/client/client.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { CSRF } from '../support/http-fixture.ts'
import { startPostgres } from '../support/postgres.ts'
import { runCommand } from '../support/run-command.ts'
import { RATES, writeSheet } from '../support/sheet-fixture.ts'
import { temporaryFile } from '../support/temporary-file.ts'
import { eventually } from '../support/viewer.ts'

const postgres = await startPostgres()

test('a standby database is refused with advice', async (t) => {
  const env = { COLOPHON_STORE: postgres.freshUrl(), COLOPHON_ACTOR: 'human:ann' }
  const pushed = await runCommand(['push', await writeSheet(t)], { env })
  assert.equal(pushed.code, 0, pushed.stderr)
  await postgres.stop()
  await postgres.start('standby')
  for (const args of [['list'], ['serve', '--port', '0'], ['push', await writeSheet(t)]]) {
    const { code, stdout, stderr } = await runCommand(args, { env })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /: the database is read-only; connect to the primary server \(0A000\)\n$/)
  }
  await postgres.stop()
  await postgres.start()
  assert.equal((await runCommand(['list'], { env })).code, 0)
})

for (const how of ['fast', 'crash'] as const) {
  const title = how === 'fast' ? 'is restarted' : 'crashes and comes back'
  test(`a database that ${title} under a server: requests fail meanwhile, and no frame is lost`, async (t) => {
    const store = postgres.freshUrl()
    const env = { COLOPHON_STORE: store, COLOPHON_ACTOR: 'human:ann' }
    const pushed = await runCommand(['push', await writeSheet(t)], { env })
    assert.equal(pushed.code, 0, pushed.stderr)
    const { path: stub } = await temporaryFile(t, 'stub.json', RATES)
    const serve = ['serve', '--store', store, '--port', '0', '--stub', stub]
    const server = new ColophonProcess(t, serve)
    const url = `http://127.0.0.1:${await server.port()}`
    const ask = (path: string, body?: object): Promise<Response> =>
      fetch(url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...CSRF, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const REQUESTS = [
      ['/api/records'],
      ['/api/records/a'],
      ['/api/records?filter=price%3E1'],
      ['/api/status'],
      ['/api/runs'],
      ['/api/query', { sql: 'SELECT count(*) FROM records' }],
      ['/api/records', { records: [{ id: 'a', title: how }], actor: 'human:ann' }],
      ['/api/materialize', { actor: 'human:ann', force: true }],
    ] as const
    const told: string[] = []
    const listening = new AbortController()
    t.after(() => listening.abort())
    const connected = Promise.withResolvers<void>()
    const client = createClient({
      baseUrl: url,
      fetch: async (...request) => {
        const answer = await fetch(...request)
        connected.resolve()
        return answer
      },
    })
    const following = (async () => {
      for await (const frame of client.events({ signal: listening.signal })) told.push(frame.kind)
    })().catch(() => undefined)
    await connected.promise
    for (const [path, body] of REQUESTS) {
      const answer = await ask(path, body)
      assert.equal(answer.status, 200, `${path}: ${await answer.text()}`)
    }
    await eventually(() => assert.deepEqual(told, ['materialize.start', 'materialize.end']))

    await postgres.stop(how)
    for (const [path, body] of REQUESTS) {
      const answer = await ask(path, body)
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [500, '5'], path)
      const { error } = (await answer.json()) as { error: { type: string; message: string } }
      assert.equal(error.type, 'RecordsError', path)
      assert.match(error.message, /^the store cannot be used: /)
      assert.doesNotMatch(error.message, /PGSQL|tmp/)
    }
    assert.equal((await ask('/api/healthz')).status, 200)

    await postgres.start()
    const again = new ColophonProcess(t, serve)
    const otherUrl = `http://127.0.0.1:${await again.port()}`
    const run = await fetch(`${otherUrl}/api/materialize`, {
      method: 'POST',
      headers: { ...CSRF, 'content-type': 'application/json' },
      body: JSON.stringify({ actor: 'human:bob', force: true }),
    })
    assert.equal(run.status, 200, await run.text())
    for (const [path, body] of REQUESTS) {
      const answer = await ask(path, body)
      assert.equal(answer.status, 200, `${path}: ${await answer.text()}`)
    }
    const count = (kind: string): number => told.filter((each) => each === kind).length
    // Also those of the run that was refused, which were told while there was nobody to keep them.
    await eventually(() => {
      assert.deepEqual(
        ['materialize.start', 'materialize.end', 'materialize.error'].map(count),
        [4, 3, 1],
        told.join(),
      )
    }, 30_000)
    listening.abort()
    await following
  })
}
