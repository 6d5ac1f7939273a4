import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunAnswer } from '../../src/wire/runs/runs.ts'
import { offers, sharedOffers } from '../support/shared-offers.ts'
import { Cluster } from './cluster.ts'

test('runs that a server has accepted continue at another one when it stops, waiting ones included', async (t) => {
  const sheet = await sharedOffers(t, offers(3, 3))
  const cluster = new Cluster(t, sheet.url)
  const [leaving, staying] = await Promise.all([
    cluster.start('server', { proxied: false }),
    cluster.start('server', { proxied: false }),
  ])
  const hold = sheet.api.hold('/rate/C0')
  const first = await cluster.run(leaving)
  // A run that is accepted does not have the run lock yet, and another one could get it before.
  await hold.arrived(1)
  const second = await cluster.run(leaving)
  const told = await fetch(`${staying.url}/api/runs/${second}/events`)
  cluster.members.delete(leaving)
  leaving.process.kill('SIGTERM')
  assert.equal((await leaving.process.end()).code, 0)
  hold.release()
  // The stream ends with the run.
  assert.match(await told.text(), /event: run\.end\n/)
  const runs = await Promise.all([first, second].map((id) => cluster.get<RunAnswer>(`/api/runs/${id}`)))
  assert.deepEqual(
    runs.map(({ state, materialized, skipped }) => [state, materialized, skipped]),
    [
      ['finished', 6, 0],
      ['finished', 0, 6],
    ],
  )
})
