import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { readCellStates } from '../../src/sheet/cells/read-cell-states.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { deleteRecords } from '../../src/sheet/writes/delete-records.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { seededRandom } from '../../src/store/suite/support/random.ts'
import { contractText } from '../support/contract-with.ts'
import { perEngine } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { openRunSheet, type RunSheet } from '../support/run-fixture.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const ACTOR = 'user:ann'
const KEYS = ['a', 'b', 'c', 'd', 'e']
const LABELS = ['x', 'y', 'z']
const IDS = Array.from({ length: 24 }, (_, index) => `r${index}`)

/** A table with a row, or several, for each key. */
type Rows = Map<string, readonly string[]>

interface OracleCell {
  state: 'fresh' | 'stale' | 'missing' | 'failed'
  /** Key and row of the last success. */
  computed: string | null
}

/** Makes a failed cell what it was before. */
function forget(cell: OracleCell): void {
  cell.state = cell.computed === null ? 'missing' : 'stale'
}

/** The cells of a look-up by the rules alone: each is planned anew after every edit. */
class Oracle {
  readonly rows: Rows
  readonly #cells = new Map<string, OracleCell>(IDS.map((id) => [id, { state: 'missing', computed: null }]))
  readonly #match: ReadonlyMap<string, string | null>

  constructor(rows: Rows, match: ReadonlyMap<string, string | null>) {
    this.rows = rows
    this.#match = match
  }

  /** Applies an edit of the rows: fresh cells that would be computed from something else are stale, and failed ones that are skipped no longer failed. */
  edited(): void {
    for (const [id, cell] of this.#cells) {
      const planned = this.#plan(id)
      if (cell.state === 'fresh' && planned !== 'blocked' && planned !== cell.computed) cell.state = 'stale'
      if (cell.state === 'failed' && planned === 'skipped') forget(cell)
    }
  }

  written(id: string): void {
    const cell = this.#cells.get(id) as OracleCell
    if (cell.state === 'fresh') cell.state = 'stale'
  }

  ran(ids: readonly string[]): void {
    for (const id of ids) {
      const cell = this.#cells.get(id) as OracleCell
      const planned = this.#plan(id)
      if (planned === 'blocked' || cell.state === 'fresh') continue
      if (planned === 'failed') cell.state = 'failed'
      else if (planned !== 'skipped') Object.assign(cell, { state: 'fresh', computed: planned })
      else if (cell.state === 'failed') forget(cell)
    }
  }

  /** The states as they are shown: a cell with work is blocked while its record has no key. */
  get states(): readonly string[] {
    return [...this.#cells].map(([id, { state }]) =>
      state !== 'fresh' && this.#plan(id) === 'blocked' ? 'blocked' : state,
    )
  }

  #plan(id: string): string {
    const key = this.#match.get(id) ?? null
    if (key === null) return 'blocked'
    const [label, ...more] = this.rows.get(key) ?? []
    if (label === undefined) return 'skipped'
    return more.length > 0 ? 'failed' : `${key} ${label}`
  }
}

function csv(rows: Rows): string {
  return [
    'code,label',
    ...[...rows].flatMap(([key, labels]) => labels.map((label) => `${key},${label}`)),
  ].join('\n')
}

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
  const steps = perEngine({ sqlite: 100, postgres: 30 })
  const match = new Map<string, string | null>(IDS.map((id) => [id, random.pick(KEYS)]))
  const initial = (): Rows => new Map(KEYS.slice(0, 4).map((key) => [key, ['x']]))
  const oracles = { own: new Oracle(initial(), match), other: new Oracle(initial(), match) }
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
  await run.edit('table.csv', csv(oracles.own.rows))
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
      const { rows } = oracles[target]
      const key = random.pick(KEYS)
      const labels = Array.from({ length: random.pick([0, 1, 1, 1, 2]) }, () => random.pick(LABELS))
      const before = csv(rows)
      rows.set(key, labels)
      if (target === 'own') await run.edit('table.csv', csv(rows))
      else await setOther(key, labels)
      if (target === 'other' || csv(rows) !== before) oracles[target].edited()
    }
    for (const target of targets) {
      const oracle = oracles[target]
      assert.deepEqual(await statesOf(run, target), oracle.states, `${target} after step ${step}`)
      for (const state of oracle.states) seen.add(state)
    }
  }
  assert.deepEqual([...seen].toSorted(), ['blocked', 'failed', 'fresh', 'missing', 'stale'])

  async function setOther(code: string, labels: readonly string[]): Promise<void> {
    await deleteRecords(other, { ids: [`${code}0`, `${code}1`], actor: ACTOR })
    const records = labels.map((label, index) => ({ id: `${code}${index}`, code, label }))
    if (records.length > 0) await upsertRecords(other, { records, actor: ACTOR })
  }
})
