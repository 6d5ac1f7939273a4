import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { readCellStates } from '../../src/sheet/cells/read-cell-states.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { deleteRecords } from '../../src/sheet/writes/delete-records.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { seededRandom } from '../../src/store/suite/support/random.ts'
import { CellOracle, csvOf, lookUpPlan, type OracleRows } from '../support/cell-oracle.ts'
import { contractText } from '../support/contract-with.ts'
import { perEngine } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { openRunSheet, type RunSheet } from '../support/run-fixture.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const ACTOR = 'user:ann'
const KEYS = ['a', 'b', 'c', 'd', 'e']
const LABELS = ['x', 'y', 'z']
const IDS = Array.from({ length: 24 }, (_, index) => `r${index}`)

/** A look-up of `kind` in another field than the others, by the field `code`. */
function lookup(target: string, more: JsonObject): JsonObject {
  return { targets: [target], match: 'code', value_field: 'label', ...more }
}

async function statesOf({ sheet }: RunSheet, target: string): Promise<readonly string[]> {
  const states = await readCellStates(sheet, { ids: IDS, targets: [target] })
  return IDS.map((id) => String(states.get(id)?.[target]))
}

test('D32: random edits of records, tables and other sheets make stale exactly what would be computed from something else', async (t: TestContext) => {
  const random = seededRandom(20_261_123)
  const steps = perEngine({ sqlite: 50, postgres: 20 })
  const match = new Map<string, string | null>(IDS.map((id) => [id, random.pick(KEYS)]))
  const initial = (): OracleRows => new Map(KEYS.slice(0, 4).map((key) => [key, ['x']]))
  const tables = { own: initial(), other: initial() }
  const oracleOf = (rows: OracleRows): CellOracle =>
    new CellOracle(IDS, (id) => lookUpPlan(rows, match.get(id) ?? null))
  const oracles = { own: oracleOf(tables.own), other: oracleOf(tables.other) }
  const other = await openSheet(
    await writeSheet(t, {
      contract: contractText(['{name: code, logicalType: string}', '{name: label, logicalType: string}']),
      records: KEYS.slice(0, 4).map((code) => ({ id: `${code}0`, code, label: 'x' })),
      derivations: {},
    }),
  )
  onEnd(t, () => other.close())
  // Sheets in PostgreSQL have no sheets beside them.
  const targets = perEngine<readonly ('own' | 'other')[]>({ sqlite: ['own', 'other'], postgres: ['own'] })
  const files: Readonly<Record<'own' | 'other', JsonObject>> = {
    own: lookup('own', { kind: 'import', source: 'table.csv', key_field: 'code' }),
    other: lookup('other', { kind: 'cross_sheet', source_sheet: `../${other.name}`, key_field: 'code' }),
  }
  const run = await openRunSheet(t, {
    properties: ['code: string', 'own: string', 'other: string'],
    records: IDS.map((id) => ({ id, code: match.get(id) ?? null })),
    derivations: () => Object.fromEntries(targets.map((target) => [`${target}.yaml`, files[target]])),
  })
  await run.edit('table.csv', csvOf(tables.own))
  const seen = new Set<string>()
  for (let step = 0; step < steps; step += 1) {
    const kind = random.below(10)
    if (kind < 2) {
      const ids = kind === 0 ? IDS : IDS.filter(() => random.chance(0.5))
      await run.start({ recordIds: ids, targets: null })
      for (const oracle of Object.values(oracles)) oracle.ran(ids)
    } else if (kind < 5) {
      const id = random.pick(IDS)
      const code = random.pick([...KEYS, null])
      if (match.get(id) !== code) {
        await run.write({ id, code })
        match.set(id, code)
        for (const oracle of Object.values(oracles)) oracle.written(id)
      }
    } else {
      const target = random.pick(targets)
      const rows = tables[target]
      const key = random.pick(KEYS)
      const labels = Array.from({ length: random.pick([0, 1, 1, 1, 2]) }, () => random.pick(LABELS))
      const before = csvOf(rows)
      rows.set(key, labels)
      if (target === 'own') await run.edit('table.csv', csvOf(rows))
      else await setOther(key, labels)
      if (target === 'other' || csvOf(rows) !== before) oracles[target].edited()
    }
    for (const target of targets) {
      const oracle = oracles[target]
      const expected = oracle.states(IDS)
      assert.deepEqual(await statesOf(run, target), expected, `${target} after step ${step}`)
      for (const state of expected) seen.add(state)
    }
  }
  assert.deepEqual([...seen].toSorted(), ['blocked', 'failed', 'fresh', 'missing', 'stale'])

  async function setOther(code: string, labels: readonly string[]): Promise<void> {
    await deleteRecords(other, { ids: [`${code}0`, `${code}1`], actor: ACTOR })
    const records = labels.map((label, index) => ({ id: `${code}${index}`, code, label }))
    if (records.length > 0) await upsertRecords(other, { records, actor: ACTOR })
  }
})
