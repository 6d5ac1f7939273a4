import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { getProposal } from '../../src/sheet/writes/proposals.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { contractText } from '../support/contract-with.ts'
import { openOnEngine } from '../support/engine.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { checkedLog, KILLS, seededRandom, Victim } from './kill-harness.ts'

const ROUNDS = Math.ceil(KILLS / 2)
const PROPOSALS_A_ROUND = 40
const RECORDS = 5
const REVIEWER = 'human:ann'

/** The known fate of a proposal. */
interface Issued {
  readonly id: string
  readonly name: string
  acknowledged: boolean
}

test(`${ROUNDS} kills while proposals are accepted leave none of them half done`, async (t) => {
  const directory = await writeSheet(t, {
    contract: contractText(['{name: batch, logicalType: string}']),
    records: [],
    derivations: {},
  })
  const random = seededRandom(7)
  const all: Issued[] = []
  const accepted = (): number => all.filter(({ acknowledged }) => acknowledged).length
  for (let round = 0; round < ROUNDS; round += 1) {
    const victim = await Victim.start(t, directory)
    const issued = await propose(victim, round)
    all.push(...issued)
    await killWhileAccepting(victim, issued, random)
    const sheet = await openOnEngine(directory)
    try {
      await check(sheet, all)
    } finally {
      await sheet.close()
    }
    await checkLog(directory, all)
  }
  assert.ok(accepted() > 0, 'some were accepted')
  assert.ok(accepted() < all.length, 'some were not')
})

async function propose(victim: Victim, round: number): Promise<Issued[]> {
  return Promise.all(
    Array.from({ length: PROPOSALS_A_ROUND }, async (_, index) => {
      const name = `r${round}p${index}`
      const records = Array.from({ length: RECORDS }, (__, record) => ({
        id: `${name}.${record}`,
        batch: name,
      }))
      const made = (await victim.post('/api/proposals', { records })) as { id: string } | null
      assert.ok(made)
      return { id: made.id, name, acknowledged: false }
    }),
  )
}

/** The moment of the kill is what is tried: anywhere within the next commits, after a few of them. */
async function killWhileAccepting(
  victim: Victim,
  issued: readonly Issued[],
  random: () => number,
): Promise<void> {
  let left = 1 + Math.floor(random() * (PROPOSALS_A_ROUND / 2))
  const { promise: enough, resolve } = Promise.withResolvers<void>()
  const lanes = Array.from({ length: 4 }, async (_, lane) => {
    for (const one of issued.filter((__, index) => index % 4 === lane)) {
      const answer = await victim.post(`/api/proposals/${one.id}/accept`, { actor: REVIEWER })
      if (answer === null) return
      one.acknowledged = true
      left -= 1
      if (left === 0) resolve()
    }
  })
  await enough
  await delay(random() * 4)
  await victim.kill()
  await Promise.all(lanes)
}

async function check(sheet: Sheet, all: readonly Issued[]): Promise<void> {
  const page = await listRecords(sheet, { limit: 10_000 })
  const batches = Map.groupBy(JSON.parse(String(page.records)) as { batch: string }[], ({ batch }) => batch)
  for (const { id, name, acknowledged } of all) {
    const { state, decidedBy } = await getProposal(sheet, id)
    if (acknowledged) assert.equal(state, 'accepted', `${name} was acknowledged and is lost`)
    assert.equal(decidedBy, state === 'accepted' ? REVIEWER : null)
    assert.equal(batches.get(name)?.length ?? 0, state === 'accepted' ? RECORDS : 0, `${name} is half done`)
  }
}

/** Each record that was written has its line, which names both actors. */
async function checkLog(directory: string, all: readonly Issued[]): Promise<void> {
  const lines = Map.groupBy(await checkedLog(directory), ({ values }) => String(values?.['batch']))
  for (const { id, name } of all) {
    for (const line of lines.get(name) ?? []) {
      const { actor, proposal, proposed_by: by } = line as unknown as Readonly<Record<string, unknown>>
      assert.deepEqual([actor, proposal, by], [REVIEWER, id, 'agent:victim'])
    }
    assert.ok([0, RECORDS].includes(lines.get(name)?.length ?? 0), name)
  }
}
