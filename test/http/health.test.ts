import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createApp } from '../../src/http/app.ts'
import { assertEnvelope, startApp } from '../support/http-fixture.ts'
import { openOnEngine } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const HEALTH = { url: '/api/healthz' }

test('the service is healthy as long as it responds, whatever the state of the sheet', async (t) => {
  const { app } = await startApp(t)
  const response = await app.inject(HEALTH)
  assert.deepEqual([response.statusCode, response.json()], [200, { status: 'ok' }])
  assert.equal((await app.inject({ ...HEALTH, method: 'HEAD' })).statusCode, 200)
})

test('D3: an invalid contract does not make the service unhealthy', async (t) => {
  const directory = await writeSheet(t)
  await writeFile(join(directory, 'contract.yaml'), 'nonsense: [')
  const sheet = await openOnEngine(directory)
  onEnd(t, () => sheet.close())
  const app = createApp(sheet)
  onEnd(t, () => app.close())
  assert.equal((await app.inject({ url: '/api/contract' })).statusCode, 500)
  assert.equal((await app.inject(HEALTH)).statusCode, 200)
})

test('a stopping service is a 503 with the time to retry, and not an error in the log', async (t) => {
  const { app, sheet, logged } = await startApp(t)
  await sheet.stopRuns()
  const response = await app.inject(HEALTH)
  assert.equal(response.statusCode, 503)
  assertEnvelope(response, 'OperationError', /being stopped|stopping/)
  assert.match(String(response.headers['retry-after']), /^\d+$/)
  assert.deepEqual(logged, [])
})
