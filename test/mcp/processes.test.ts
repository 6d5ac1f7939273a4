import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { agentOverStdio, ERAS, serveAgents } from '../support/agent.ts'
import { checkConcurrent, endOfRun } from '../support/agent-runs.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { openOnEngine } from '../support/engine.ts'
import { writeLookupSheet } from '../support/lookup-files.ts'
import { onEnd } from '../support/on-end.ts'

test('concurrent clients over stdio do not affect each other', async (t) => {
  const { sheet } = await writeLookupSheet(t, { records: 6 })
  await checkConcurrent(await Promise.all([0, 1, 2].map(() => agentOverStdio(t, sheet))))
})

for (const era of ERAS) {
  void test(`${era}: a client over stdio that disconnects ends the process, and its run`, async (t) => {
    const { sheet, api } = await writeLookupSheet(t)
    const agent = await agentOverStdio(t, sheet, { era })
    const { pid } = agent.transport as StdioClientTransport
    const hold = api.hold('/b/*')
    const call = agent.raw('materialize', {}).catch(() => undefined)
    await hold.arrived(2)
    await agent.client.close()
    await call
    const person = await openOnEngine(sheet)
    onEnd(t, () => person.close())
    assert.deepEqual(await endOfRun(person), { state: 'cancelled', cancelledBy: 'agent' })
    hold.release()
    assert.throws(() => process.kill(pid ?? 0, 0), { code: 'ESRCH' })
  })
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  void test(`${signal} ends colophon mcp with 0, its run is cancelled, though standard input stays open`, async (t) => {
    const { sheet, api } = await writeLookupSheet(t)
    const hold = api.hold('/b/*')
    const running = new ColophonProcess(t, ['mcp', sheet], { stdin: 'pipe' })
    running.write(
      [
        {
          id: 1,
          method: 'initialize',
          params: {
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: 'test', version: '1' },
          },
        },
        { method: 'notifications/initialized' },
        { id: 2, method: 'tools/call', params: { name: 'materialize', arguments: {} } },
      ]
        .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
        .join(''),
    )
    await hold.arrived(2)
    running.kill(signal)
    const { code, stdout, stderr } = await running.end()
    assert.deepEqual([code, stderr], [0, ''])
    // Nothing but the protocol.
    for (const line of stdout.trimEnd().split('\n'))
      assert.equal((JSON.parse(line) as { jsonrpc: string }).jsonrpc, '2.0')
    const person = await openOnEngine(sheet)
    onEnd(t, () => person.close())
    assert.deepEqual(await endOfRun(person), { state: 'cancelled', cancelledBy: 'agent' })
    hold.release()
  })
}

test('a sheet that is open in a server can be used over stdio at the same time', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  const server = await serveAgents(t, sheet)
  const port = await server.port()
  const agent = await agentOverStdio(t, sheet)
  await agent.call('upsert_records', { records: [{ id: 'mine', a: 'x' }] })
  const answer = await fetch(`http://127.0.0.1:${port}/api/records/mine?fields=a`)
  assert.deepEqual(await answer.json(), { a: 'x' })
})

test('arguments that nest far too deeply are refused, and the server continues', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  for (const flags of [[], ['--propose']]) {
    const agent = await agentOverStdio(t, sheet, { flags })
    for (const depth of [600, 3000]) {
      const deep = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown
      assert.match(
        await agent.fails('upsert_records', { records: [{ id: 'r0', a: deep }] }),
        /^ValidationError: .*(nests?|too deep)/,
      )
    }
    await agent.call('get_status')
  }
})

test('an agent does not write as the person whose environment it inherits', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  const env = { COLOPHON_ACTOR: 'human:ann' }
  const agent = await agentOverStdio(t, sheet, { env })
  assert.equal((await agent.call('get_permissions')).structured['actor'], 'agent')
})

test('invalid bounds for agents, and bounds that exclude each other, are wrong usage', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  for (const [args, message] of [
    [['serve', sheet, '--mcp-read-only'], /'--mcp-read-only' needs '--mcp'/],
    [['serve', sheet, '--mcp-max-cost', '2'], /'--mcp-max-cost <dollars>' needs '--mcp'/],
    [['serve', sheet, '--mcp', '--mcp-read-only', '--mcp-propose'], /cannot be used with/],
    [['mcp', sheet, '--read-only', '--propose'], /cannot be used with/],
    [['mcp', sheet, '--max-calls', 'many'], /whole number/],
    [['mcp', sheet, '--max-cost', '-1'], /dollars/],
  ] as const) {
    const { code, stdout, stderr } = await new ColophonProcess(t, args).end()
    assert.equal(code, 2, args.join(' '))
    assert.equal(stdout, '')
    assert.match(stderr, message)
  }
})

test('a path that is not a sheet is one line on standard error and exit code 1, and nothing on standard output', async (t) => {
  const { code, stdout, stderr } = await new ColophonProcess(t, ['mcp', import.meta.dirname]).end()
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^error: .* has no contract\.yaml[^\n]*\n$/)
})
