import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { readStatus } from '../../src/sheet/cells/read-status.ts'
import { contractText } from '../support/contract-with.ts'
import { openOnEngine } from '../support/engine.ts'
import { startLocalApi } from '../support/local-api.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { byText, checkedLog, KILLS, seededRandom, Victim } from './kill-harness.ts'

test(`D30, D34: ${KILLS} kills during runs lose no stored cell and repeat no paid call`, async (t) => {
  const api = await startLocalApi(t)
  const random = seededRandom(2)
  const records = Array.from({ length: KILLS * 30 }, (_, index) => ({ id: `r${index}` }))
  const directory = await writeSheet(t, {
    contract: contractText(['{name: label, logicalType: string}']),
    records,
    derivations: {
      'label.yaml': `targets: [label]\ninputs: [id]\nkind: http\nurl: ${api.url}/{{ id }}\nresponse_path: label\n`,
    },
  })
  let stored = new Set<string>()
  for (let round = 0; round < KILLS; round += 1) {
    const victim = await Victim.start(t, directory)
    const calls = 5 + Math.floor(random() * 20)
    const called: string[] = []
    const { promise: enough, resolve } = Promise.withResolvers<void>()
    api.answer('*', ({ path }) => {
      called.push(path.slice(1))
      if (called.length >= calls) resolve()
      return { json: { label: `label of ${path.slice(1)}` } }
    })
    const run = victim.post('/api/materialize', {})
    await enough
    // The moment of the kill is what is tried here: between a call, its answer and its commit.
    await delay(random() * 4)
    await victim.kill()
    assert.equal(await run, null, 'the run was under way')
    assert.deepEqual(
      called.filter((id) => stored.has(id)),
      [],
      'no call for a cell that was stored',
    )
    stored = await checkCells(directory)
  }
})

/** Holds values, states and provenance of a sheet to each other; answers with the ids of the computed cells. */
async function checkCells(directory: string): Promise<Set<string>> {
  const sheet = await openOnEngine(directory)
  const page = await listRecords(sheet, {
    fields: ['id', 'label'],
    limit: 10_000,
  })
  const status = await readStatus(sheet, null)
  await sheet.close()
  const records = JSON.parse(String(page.records)) as { id: string; label: string | null }[]
  const computed = records.filter(({ label }) => label !== null)
  for (const { id, label } of computed) assert.equal(label, `label of ${id}`)
  const entries = (await checkedLog(directory)).filter(({ source }) => source === 'http')
  assert.deepEqual(
    entries.map(({ record_id }) => String(record_id)).toSorted(byText),
    computed.map(({ id }) => id).toSorted(byText),
    'each computed cell has its one line',
  )
  assert.equal(status['label']?.fresh, computed.length)
  assert.equal(status['label']?.missing, records.length - computed.length)
  return new Set(computed.map(({ id }) => id))
}
