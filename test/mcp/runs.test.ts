import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import {
  agentOverHttp,
  agentOverStdio,
  ERAS,
  forEveryClient,
  serveAgents,
  startAgent,
} from '../support/agent.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { openOnEngine } from '../support/engine.ts'
import { writeLookupSheet } from '../support/lookup-files.ts'
import { onEnd } from '../support/on-end.ts'

/** Waits until the newest run has ended, and tells how. */
async function endOfRun(sheet: Sheet): Promise<{ state: string; cancelledBy: string | null }> {
  for (;;) {
    const [run] = (await listRuns(sheet, { limit: 1, cursor: null })).runs
    if (run !== undefined && run.state !== 'running')
      return { state: run.state, cancelledBy: run.cancelledBy }
    await setImmediate()
  }
}

forEveryClient(({ transport, era, name }) => {
  void test(`${name}: cancelling a call cancels its run, in the name of the agent`, async (t) => {
    const { sheet, api } = await writeLookupSheet(t)
    const agent = await startAgent(t, sheet, { transport, era })
    await agent.tools()
    const hold = api.hold('/b/*')
    const stop = new AbortController()
    const call = agent.raw('materialize', {}, { signal: stop.signal })
    const refused = assert.rejects(call)
    await hold.arrived(2)
    stop.abort()
    await refused
    const person = await openOnEngine(sheet)
    onEnd(t, () => person.close())
    assert.deepEqual(await endOfRun(person), { state: 'cancelled', cancelledBy: 'agent' })
    assert.equal(api.requests.length, 2)
    hold.release()
    // The client goes on as before.
    const again = await agent.call('materialize')
    assert.equal((again.structured['run'] as { state: string }).state, 'finished')
  })

  void test(`${name}: a run reports its progress on request`, async (t) => {
    const { sheet, api } = await writeLookupSheet(t, { records: 3 })
    const agent = await startAgent(t, sheet, { transport, era })
    const hold = api.hold('/b/v2')
    const seen: { progress: number; total?: number | undefined; message?: string | undefined }[] = []
    const heard = Promise.withResolvers<void>()
    const call = agent.call(
      'materialize',
      {},
      {
        onprogress: (progress) => {
          seen.push(progress)
          if (progress.progress === 2) heard.resolve()
        },
      },
    )
    await heard.promise
    hold.release()
    await call
    const done = seen.map(({ progress }) => progress)
    assert.deepEqual(
      done,
      [...new Set(done)].toSorted((a, b) => a - b),
    )
    assert.equal(seen.at(-1)?.total, 3)
    assert.match(seen.at(-1)?.message ?? '', /^run 1: \d calls, 0 cells failed$/)
  })

  void test(`${name}: concurrent clients do not affect each other`, async (t) => {
    const { sheet } = await writeLookupSheet(t, { records: 6 })
    const port = transport === 'http' ? await (await serveAgents(t, sheet)).port() : 0
    const agents = await Promise.all(
      [0, 1, 2].map(() =>
        transport === 'http' ? agentOverHttp(t, port, { era }) : agentOverStdio(t, sheet, { era }),
      ),
    )
    await Promise.all(
      agents.flatMap((agent, index) => [
        agent.call('upsert_records', { records: [{ id: `n${index}`, a: `x${index}` }] }),
        agent.call('materialize', { record_ids: [`r${index}`, `r${index + 3}`] }),
        agent.call('query', { sql: 'SELECT count(*) AS n FROM records' }),
      ]),
    )
    const { structured } = await (agents[0] ?? assert.fail()).call('query', {
      sql: 'SELECT count(*) AS n, count(b) AS computed FROM records',
    })
    assert.deepEqual(structured['rows'], [{ n: 9, computed: 6 }])
  })
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

test('a failing run reports the run to read', async (t) => {
  const { sheet, api } = await writeLookupSheet(t)
  const agent = await startAgent(t, sheet, { transport: 'http', era: '2025-11-25' })
  api.answer('/b/v1', { status: 500, json: {} })
  const { structured, text } = await agent.call('materialize')
  assert.match(text, /2 computed, 0 skipped, 1 failed/)
  const [failure] = structured['failures'] as { record_id: string; error: string }[]
  assert.equal(failure?.record_id, 'r1')
  assert.match(failure?.error ?? '', /-> 500$/)
  const { structured: why } = await agent.call('explain_cell', { record_id: 'r1', target: 'b' })
  assert.equal(why['state'], 'failed')
})

test('a sheet that is open in a server can be used over stdio at the same time', async (t) => {
  const { sheet } = await writeLookupSheet(t)
  const server = await serveAgents(t, sheet)
  const port = await server.port()
  const agent = await agentOverStdio(t, sheet)
  await agent.call('upsert_records', { records: [{ id: 'mine', a: 'x' }] })
  const answer = await fetch(`http://127.0.0.1:${port}/api/records/mine?fields=a`)
  assert.deepEqual(await answer.json(), { a: 'x' })
})
