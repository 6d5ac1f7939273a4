import assert from 'node:assert/strict'
import { test } from 'node:test'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { Database } from '../../src/store/postgres/database/database.ts'
import { PostgresHosts } from '../../src/store/postgres/hosts/postgres-hosts.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'
import { onEnd } from '../support/on-end.ts'
import { sharedLookupSheet } from '../support/shared-sheet.ts'

test("a run uses only the part of a host's limit that other processes leave", async (t) => {
  const shared = await sharedLookupSheet(t, [
    { id: '1', a: 'x' },
    { id: '2', a: 'y' },
  ])
  const sheet = await shared.open()
  const database = new Database(parseStoreUrl(shared.url))
  const hosts = new PostgresHosts(database)
  onEnd(t, async () => {
    await hosts.close()
    await database.close()
  })
  const held = Promise.withResolvers<void>()
  let begun = 0
  const share = hosts.join(new URL(shared.api.url).origin, {
    waiting: () => 8 - begun,
    requests: () => 0,
    onChange() {
      for (; begun < 8 && share.hasPermit(); begun += 1) share.begin()
      if (begun === 8) held.resolve()
    },
    onPause: () => undefined,
    onPauseEnd: () => undefined,
  })
  share.setLimits({ concurrency: 8, rate: null })
  share.hasPermit()
  await held.promise

  const run = materialize(sheet, { targets: null, recordIds: null, force: false, actor: 'agent:runner' })
  const wants = 'SELECT count(*) AS waiting FROM "$host_part" WHERE wanted > places'
  while ((await database.get(wants))?.['waiting'] !== 1) await new Promise(setImmediate)
  assert.deepEqual(shared.api.requests, [])
  share.end()
  assert.equal((await run).materialized, 2)
})
