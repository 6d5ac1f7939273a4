import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ColophonProcess } from '../support/colophon-process.ts'
import { HeldRates } from '../support/held-rates.ts'
import { CSRF } from '../support/http-fixture.ts'
import { RawClient } from '../support/raw-client.ts'
import { runColophon } from '../support/run-colophon.ts'
import { runCommand } from '../support/run-command.ts'
import { RATES, writeSheet } from '../support/sheet-fixture.ts'

const env = { COLOPHON_ACTOR: 'human:ann' }

test('the command line and a server write to one sheet at once, and nothing is lost', async (t) => {
  const sheet = await writeSheet(t, { records: [] })
  const server = new ColophonProcess(t, ['serve', sheet, '--port', '0', '--actor', 'human:bob'])
  const url = `http://127.0.0.1:${await server.port()}`
  const names = (writer: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${writer}-${index}`)
  const overHttp = names('http', 60).map(async (id) => {
    const response = await fetch(`${url}/api/records`, {
      method: 'POST',
      headers: { ...CSRF, 'content-type': 'application/json' },
      body: JSON.stringify({ records: [{ id, title: 'over HTTP' }] }),
    })
    assert.equal(response.status, 200, await response.text())
  })
  const atTerminal = names('cli', 3).map(async (writer) => {
    const lines = names(writer, 2500).map((id) => `${JSON.stringify({ id, title: 'at the terminal' })}\n`)
    const { code, stderr } = await runColophon(['upsert', sheet], { env, input: lines.join('') })
    assert.deepEqual([code, stderr], [0, ''])
  })
  await Promise.all([...overHttp, ...atTerminal])
  const { stdout } = await runCommand([
    'query',
    sheet,
    'SELECT title, count(*) AS n FROM records GROUP BY title',
  ])
  assert.deepEqual((JSON.parse(stdout) as { rows: unknown }).rows, [
    { title: 'at the terminal', n: 7500 },
    { title: 'over HTTP', n: 60 },
  ])
  // The log is whole, too: one line for each record, its numbers without a gap.
  const log = (await readFile(join(sheet, 'provenance.jsonl'), 'utf8')).trimEnd().split('\n')
  const seqs = log.map((line) => (JSON.parse(line) as { seq: number }).seq)
  assert.deepEqual(
    seqs,
    Array.from({ length: 7560 }, (_, index) => index + 1),
  )
})

test('a page that watches the sheet receives the writes and runs of the command line, and the server returns them', async (t) => {
  const sheet = await writeSheet(t)
  await writeFile(join(sheet, 'stub.json'), RATES)
  const server = new ColophonProcess(t, ['serve', sheet, '--port', '0'])
  const port = await server.port()
  const stream = await RawClient.open(t, port)
  stream.send('GET /api/sheet/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await stream.waitFor((text) => text.includes('event: sheet'))
  const wrote = await runCommand(['upsert', sheet], { env, input: '{"id":"a","title":"Avocado"}' })
  assert.equal(wrote.code, 0)
  await stream.waitFor((text) => /"seq":2\b/.test(text))
  const record = (await (await fetch(`http://127.0.0.1:${port}/api/records/a`)).json()) as { title: string }
  assert.equal(record.title, 'Avocado')
  const ran = await runCommand(['materialize', sheet, '--stub', join(sheet, 'stub.json')], { env })
  assert.equal(ran.code, 3)
  await stream.waitFor((text) => /"seq":4\b.*\\"1\\",\\"finished\\"/.test(text))
})

test('a run of the server can be listed and cancelled from the command line', async (t) => {
  const rates = await HeldRates.start(t, 12)
  const server = new ColophonProcess(t, ['serve', rates.sheet, '--port', '0', '--actor', 'human:bob'])
  const url = `http://127.0.0.1:${await server.port()}`
  const started = await fetch(`${url}/api/materialize`, {
    method: 'POST',
    headers: { ...CSRF, 'content-type': 'application/json', prefer: 'respond-async' },
    body: '{}',
  })
  assert.equal(started.status, 202)
  await rates.waiting(8)
  const seen = await runCommand(['runs', rates.sheet, '1'])
  assert.partialDeepStrictEqual(JSON.parse(seen.stdout), { state: 'running', actor: 'human:bob' })
  const cancelled = await runCommand(['runs', rates.sheet, '1', '--cancel'], { env })
  assert.equal(cancelled.code, 0, cancelled.stderr)
  assert.partialDeepStrictEqual(JSON.parse(cancelled.stdout), {
    state: 'cancelled',
    cancelled_by: 'human:ann',
  })
})

test('two concurrent runs wait for each other, and one that may not wait for long fails with the reason', async (t) => {
  const rates = await HeldRates.start(t, 1)
  const first = new ColophonProcess(t, ['materialize', rates.sheet, '--actor', 'human:ann'])
  await rates.waiting(1)
  // Not 0: the first one holds the store itself for a moment now and then, such as when it notes its calls.
  const second = await runCommand(['materialize', rates.sheet, '--lock-timeout', '1'], { env })
  assert.deepEqual([second.code, second.stdout], [1, ''])
  assert.match(second.stderr, /^error: another run of this sheet is under way [^\n]*\n$/)
  rates.answer(1)
  assert.equal((await first.end()).code, 0)
})
