import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentOverHttp, forEveryClient, serveAgents, startAgent } from '../support/agent.ts'
import { checkConcurrent, endOfRun } from '../support/agent-runs.ts'
import { openOnEngine } from '../support/engine.ts'
import { writeLookupSheet } from '../support/lookup-files.ts'
import { onEnd } from '../support/on-end.ts'

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
})

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

test('concurrent clients do not affect each other', async (t) => {
  const { sheet } = await writeLookupSheet(t, { records: 6 })
  const port = await (await serveAgents(t, sheet)).port()
  await checkConcurrent(await Promise.all([0, 1, 2].map(() => agentOverHttp(t, port, { era: '2026-07-28' }))))
})
