import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { DEFAULT_HOST_POLICY } from '../../definition/host-policies.ts'
import { startHttp } from '../testing/local-server.ts'
import { NetworkTransport } from './network-transport.ts'
import type { SendResult } from '../call/transport.ts'

const { signal } = new AbortController()

function get(transport: NetworkTransport, url: string): Promise<SendResult> {
  const request = { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set<string>() } as const
  return transport.send(request, { signal, policy: { ...DEFAULT_HOST_POLICY, concurrency: 1 } })
}

test('calls that begin while the client is being loaded are limited together', async (t) => {
  let underWay = 0
  const server = await startHttp((_incoming, response) => {
    underWay += 1
    assert.equal(underWay, 1)
    response.end('1', () => (underWay -= 1))
  })
  t.after(() => server.close())
  const transport = new NetworkTransport()
  t.after(() => transport.close())
  const calls = Array.from({ length: 8 }, (_, index) => get(transport, `${server.origin}/${index}`))
  for (const answer of await Promise.all(calls)) assert.equal(answer.ok && answer.value.json, 1)
})

test('the end of loading is reported once, before the first call is sent', async (t) => {
  const told: string[] = []
  const server = await startHttp((_incoming, response) => {
    told.push('called')
    response.end('1')
  })
  t.after(() => server.close())
  const transport = new NetworkTransport({ onLoaded: () => told.push('loaded') })
  t.after(() => transport.close())
  await Promise.all([get(transport, server.origin), get(transport, server.origin)])
  await get(transport, server.origin)
  assert.deepEqual(told, ['loaded', 'called', 'called', 'called'])
})

test('only the hosts that are allowed are called', async (t) => {
  const transport = new NetworkTransport({ allowedHosts: new Set(['api.example:443']) })
  t.after(() => transport.close())
  assert.equal(transport.refusal('api.example:443'), null)
  assert.equal(transport.refusal('other.example:443'), '--allow-net does not list other.example:443')
  const answer = await get(transport, 'https://other.example/')
  assert.equal(!answer.ok && answer.error.reason, 'refused')
})

test('a call after closing fails, whether or not there was one before', async (t) => {
  const server = await startHttp((_incoming, response) => response.end('1'))
  t.after(() => server.close())
  for (const callsBefore of [0, 1]) {
    const transport = new NetworkTransport()
    if (callsBefore > 0) await get(transport, server.origin)
    await transport.close()
    const answer = await get(transport, server.origin)
    assert.equal(!answer.ok && answer.error.reason, 'network', String(callsBefore))
  }
})

test('the client is not loaded before it is called', () => {
  const module = JSON.stringify(import.meta.resolve('./network-transport.ts'))
  const program = `import { NetworkTransport } from ${module}
import { createRequire } from 'node:module'
new NetworkTransport()
const loaded = Object.keys(createRequire(${module}).cache)
console.log(loaded.filter((path) => path.includes('undici')).length)`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program])
  assert.equal(String(stdout), '0\n')
})

test('it can be closed while the client is being loaded', async (t) => {
  const server = await startHttp((_incoming, response) => response.end('1'))
  t.after(() => server.close())
  const transport = new NetworkTransport()
  const call = get(transport, server.origin)
  await transport.close()
  const answer = await call
  assert.equal(!answer.ok && answer.error.reason, 'network')
})
