import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createApp } from '../../src/http/app.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { CSRF } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

test('D34: lines of another program in the log are set aside, and the log and the status report the file', async (t) => {
  const directory = await writeSheet(t)
  const warned: string[] = []
  const logger = {
    info: () => undefined,
    warn: (_details: object, message: string) => void warned.push(message),
    error: () => undefined,
  }
  const sheet = await openSheet(directory, { logger })
  onEnd(t, () => sheet.close())
  const app = createApp(sheet)
  onEnd(t, () => app.close())
  const log = join(directory, 'provenance.jsonl')
  const write = async (title: string): Promise<number> => {
    const payload = { records: [{ id: 'a', title }], actor: 'human:ann' }
    const { statusCode } = await app.inject({ method: 'POST', url: '/api/records', headers: CSRF, payload })
    return statusCode
  }
  assert.equal((await app.inject('/api/status')).headers['x-svc-warning'], undefined)

  appendFileSync(log, '{"note": "by hand"}\n')
  assert.equal(await write('one'), 200)
  const name = 'provenance.set-aside-1.jsonl'
  assert.equal(readFileSync(join(directory, name), 'utf8'), '{"note": "by hand"}\n')
  const warning = new RegExp(`lines that the store does not have: .* they were moved to ${name}`)
  assert.match(warned.join('\n'), warning)
  const status = await app.inject('/api/status')
  assert.match(String(status.headers['x-svc-warning']), warning)
  assert.deepEqual(Object.keys(status.json<object>()), ['rate'])

  // What a damaged log's message advises works without a restart.
  const lines = readFileSync(log, 'utf8')
  renameSync(log, join(directory, 'moved'))
  assert.equal(await write('two'), 200)
  assert.ok(readFileSync(log, 'utf8').startsWith(lines))
})
