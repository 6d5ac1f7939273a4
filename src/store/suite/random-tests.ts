import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { ServiceError } from '../../errors/service-error.ts'
import type { CellState } from '../cell-state.ts'
import type { CellCommit, CellResult, WorkItem } from '../cell-work.ts'
import type { TargetDefinition } from '../sheet-store.ts'
import type { RunId } from '../stored-run.ts'
import { Model, type ModelField, type ModelResult, type ModelTarget, type ReadCell } from './support/model.ts'
import { RANDOM_TIMES, seededRandom, type Random } from './support/random.ts'
import {
  AGENT,
  checkEntriesOfRecord,
  entriesOf,
  FIRST_PAGE,
  hashOf,
  HUMAN,
  sha256,
  target,
  TestSheet,
  type OpenStore,
} from './support/test-sheet.ts'

const STEPS = 500 * RANDOM_TIMES
/** Concurrent requests of one round. */
const TOGETHER = 25
const STEPS_BETWEEN_CHECKS = 250

const IDS = Array.from({ length: 24 }, (_, index) => `r${index}`)
const ACTORS = [HUMAN, 'human:bob', AGENT, 'agent:other']
const EDITABLE = (pattern: string): string =>
  `customProperties: [{property: editableBy, value: ["${pattern}*"]}]`
const PROPERTIES = [
  '{name: a, logicalType: string, required: true}',
  '{name: b, logicalType: integer, logicalTypeOptions: {maximum: 9}}',
  '{name: u, logicalType: string, unique: true}',
  `{name: own, logicalType: string, ${EDITABLE('agent:')}}`,
  '{name: one, logicalType: string}',
  `{name: two, logicalType: string, ${EDITABLE('human:')}}`,
  `{name: last, logicalType: string, ${EDITABLE('')}}`,
]
const isText = (value: JsonValue): boolean => typeof value === 'string' && !value.includes('\u0000')

function newModel(): Model {
  const text = {
    required: false,
    unique: false,
    editableBy: null,
    fault: (value: JsonValue) => !isText(value),
  }
  const fields: ModelField[] = [
    { ...text, name: 'id', required: true },
    { ...text, name: 'a', required: true },
    { ...text, name: 'b', fault: (value) => typeof value !== 'number' || value > 9 },
    { ...text, name: 'u', unique: true },
    { ...text, name: 'own', editableBy: 'agent:' },
    { ...text, name: 'one' },
    { ...text, name: 'two', editableBy: 'human:' },
    { ...text, name: 'last', editableBy: '' },
  ]
  const targets = [
    target('one', ['a'], { required: ['a'], nonEmpty: ['a'] }),
    target('two', ['a', 'b'], { required: ['b'] }),
    target('last', ['one', 'two', 'u'], { required: ['two', 'u'], nonEmpty: ['two'] }),
  ]
  return new Model(
    fields,
    targets.map(({ field, inputs, required, nonEmpty, sha256: file }): ModelTarget => ({
      field,
      inputs,
      required,
      nonEmpty,
      sha256: file,
      active: true,
    })),
  )
}

function definitions(model: Model): TargetDefinition[] {
  return model.targets
    .filter(({ active }) => active)
    .map(({ field, inputs, required, nonEmpty, sha256: file }) =>
      target(field, inputs, { required, nonEmpty, sha256: file }),
    )
}

/** Tests a store against the model, with random operations on both. */
export function testAgainstModel(open: OpenStore): void {
  const steps = STEPS * (open.randomPart ?? 1)
  test(`D13, D28, D32, D34, D35: ${steps} random operations have the result of a simple model`, async (t) => {
    const records = IDS.slice(0, 8).map((id, index): JsonObject => ({
      id,
      a: id,
      u: id,
      two: index % 2 === 0 ? 'v' : null,
    }))
    const model = newModel()
    model.import(records, 'system:import')
    const sheet = await TestSheet.make(t, open, {
      properties: PROPERTIES,
      targets: definitions(model),
      records,
    })
    const play = new Play({
      sheet,
      model,
      random: seededRandom(20_260_101),
      ofRun: await sheet.commitOf(),
      importRun: await sheet.importRun(),
    })
    for (let step = 0; step < steps; step += TOGETHER) {
      await play.steps(TOGETHER)
      if (step % STEPS_BETWEEN_CHECKS === 0) await play.check()
      if (step === steps / 2) await sheet.reopen()
    }
    await play.check()
    await sheet.close()
    const log = await sheet.log()
    assert.deepEqual(
      log.map(({ seq }) => seq),
      Array.from(log, (_, index) => index + 1),
      'seq has gaps',
    )
    for (const outcome of ['stored', 'superseded', 'fulfilled', 'ValidationError', 'PermissionDeniedError']) {
      assert.ok(
        (play.seen.get(outcome) ?? 0) > steps / 60,
        `the test has seen ${outcome} ${play.seen.get(outcome) ?? 0} times only`,
      )
    }
  })
}

/** A cell that a run has read, without a result so far. */
interface HeldCell {
  readonly item: WorkItem
  readonly read: ReadCell
}

interface PlayParts {
  readonly sheet: TestSheet
  readonly model: Model
  readonly random: Random
  /** An empty commit of a run. */
  readonly ofRun: CellCommit
  readonly importRun: RunId
}

class Play {
  readonly #sheet: TestSheet
  readonly #model: Model
  readonly #random: Random
  readonly #ofRun: CellCommit
  readonly #importRun: RunId
  /** The outcomes of the run in which all cells are computed. */
  readonly #gained = { computed: 0, failed: 0, unchanged: 0, skipped: 0 }
  readonly #held = new Map<string, HeldCell>()
  #under: Promise<void>[] = []
  readonly seen = new Map<string, number>()

  constructor({ sheet, model, random, ofRun, importRun }: PlayParts) {
    this.#importRun = importRun
    this.#sheet = sheet
    this.#model = model
    this.#random = random
    this.#ofRun = ofRun
  }

  /** Sends some requests at once; the store takes them in the order in which they are sent. */
  async steps(count: number): Promise<void> {
    await this.#readWork()
    for (let step = 0; step < count; step += 1) {
      const kind = this.#random.below(20)
      if (kind < 11) this.#upsert()
      else if (kind < 13) this.#delete()
      else if (kind < 19) this.#commit()
      else if (this.#random.chance(0.3)) this.#define()
    }
    const under = this.#under
    this.#under = []
    await Promise.all(under)
  }

  #see(outcome: string): void {
    this.seen.set(outcome, (this.seen.get(outcome) ?? 0) + 1)
  }

  #upsert(): void {
    const { pick, below } = this.#random
    const actor = pick(ACTORS)
    const records = Array.from({ length: 1 + below(3) }, () => this.#record())
    const imports = this.#random.chance(0.3)
    const expected = this.#model.upsert(records, actor, imports ? 'import' : 'write')
    const { total } = this.#model
    const written = imports
      ? this.#sheet.importRecords(records, this.#importRun, actor)
      : this.#sheet.write(records, actor)
    const outcome = written.then(
      ({ inserted, updated, total: left }) => ({ result: { inserted, updated, total: left } }),
      (error: unknown) => ({ refusal: error instanceof ServiceError ? error.type : String(error) }),
    )
    this.#see(typeof expected === 'string' ? expected : 'fulfilled')
    const wanted = typeof expected === 'string' ? { refusal: expected } : { result: { ...expected, total } }
    this.#under.push(outcome.then((is) => assert.deepEqual(is, wanted, JSON.stringify({ actor, records }))))
  }

  #record(): JsonObject & { id: string } {
    const { pick, chance } = this.#random
    const id = pick(IDS)
    const record: Record<string, JsonValue> = { id }
    if (chance(0.1)) return { ...this.#model.record(id), id }
    if (this.#model.record(id) === null || chance(0.3)) record['a'] = pick(['x', 'y', 'z', ''])
    if (chance(0.3)) record['b'] = pick([null, 1, 2, 3])
    if (chance(0.2)) record['u'] = pick([null, id, id, pick(IDS), chance(0.1) ? '' : id])
    if (chance(0.1)) record['own'] = pick([null, 'x', 'y'])
    if (chance(0.05)) record['one'] = pick([null, 'by hand'])
    if (chance(0.15)) record['two'] = pick([null, 'by hand', 'other', ''])
    if (chance(0.1)) record['last'] = pick([null, 'by hand', 'other'])
    if (chance(0.03))
      Object.assign(
        record,
        pick<JsonObject>([
          { a: null },
          { b: 10 },
          { b: 'x' },
          { colour: 'red' },
          { own: 1 },
          { a: 'a\u0000' },
        ]),
      )
    return { ...record, id }
  }

  #delete(): void {
    const ids = Array.from({ length: 1 + this.#random.below(2) }, () => this.#random.pick(IDS))
    const deleted = this.#model.delete(ids, HUMAN)
    const expected = { deleted, remaining: this.#model.total }
    this.#under.push(
      this.#sheet.store.delete(ids, HUMAN).then((result) => assert.deepEqual(result, expected)),
    )
  }

  /** Reads pending cells as a run would, whose results follow later. */
  async #readWork(): Promise<void> {
    const { field, inputs, active } = this.#random.pick(this.#model.targets)
    if (!active) return
    const force = this.#random.chance(0.3)
    const ready = this.#random.chance(0.3)
    const items = await this.#sheet.store.work({
      targets: [field],
      inputs,
      force,
      ready,
      state: null,
      after: null,
      limit: 100,
      only: null,
    })
    const wanted = this.#model
      .ids()
      .filter((id) => force || ['missing', 'stale', 'failed'].includes(this.#model.state(id, field)))
      .filter((id) => force || !ready || !this.#model.isBlocked(id, field))
    assert.deepEqual(
      items.map(({ id }) => id),
      wanted,
    )
    for (const item of items) {
      const record = this.#model.record(item.id)
      assert.deepEqual(
        { ...item.inputs },
        Object.fromEntries(inputs.map((input) => [input, record?.[input]])),
      )
      assert.equal(item.cells[0]?.state, this.#model.state(item.id, field))
      if (this.#random.chance(0.5))
        this.#held.set(`${item.id} ${field}`, { item, read: this.#model.read(item.id, field) })
    }
  }

  #commit(): void {
    const held = [...this.#held].filter(() => this.#random.chance(0.3)).slice(0, 5)
    const results: CellResult[] = []
    const expected: object[] = []
    for (const [key, { item, read }] of held) {
      this.#held.delete(key)
      const result = this.#result(item.cells[0]?.inputHash ?? null)
      const outcome = this.#model.commit(read, result)
      if (outcome === 'stored') this.#gained[result.kind] += 1
      const [cell] = item.cells
      const overwrites = outcome === 'stored' && result.kind === 'computed' && cell?.state === 'overridden'
      expected.push({ outcome, ...(overwrites && { overwrote: true }) })
      results.push({
        key: item.key,
        target: read.field,
        version: cell?.version ?? '',
        sha256: read.sha256,
        result: toCellResult(result),
      })
    }
    this.#under.push(
      this.#sheet.store.commitCells({ ...this.#ofRun, cells: results }).then((outcomes) => {
        assert.deepEqual(outcomes, expected)
        for (const { outcome } of outcomes) this.#see(outcome)
        return undefined
      }),
    )
  }

  #result(inputHash: string | null): ModelResult {
    const kind = this.#random.below(10)
    if (kind < 2) return { kind: 'failed' }
    if (kind === 3) return { kind: 'skipped' }
    if (kind < 5 && inputHash !== null) return { kind: 'unchanged' }
    return {
      kind: 'computed',
      value: this.#random.pick([null, 'v', 'w', 'by hand', '']),
      hash: hashOf(String(kind)),
      actor: AGENT,
    }
  }

  #define(): void {
    const { pick, chance } = this.#random
    const { field, sha256: file, active, required, nonEmpty } = pick(this.#model.targets)
    const change = {
      sha256: chance(0.5) ? file : sha256(String(this.#random.below(1000))),
      active: !active || chance(0.5),
      nonEmpty: chance(0.5) ? nonEmpty : required.filter((name) => name !== 'b' && chance(0.5)),
    }
    this.#model.define(field, change)
    this.#under.push(this.#sheet.define({ targets: definitions(this.#model) }).then(() => undefined))
  }

  /** Compares all that can be read of the store with the model. */
  async check(): Promise<void> {
    const { store } = this.#sheet
    assert.deepEqual(
      await this.#sheet.all(7),
      this.#model.ids().map((id) => this.#model.record(id)),
    )
    const status = await store.status()
    assert.equal(status.total, this.#model.total)
    for (const { field, active } of this.#model.targets) {
      if (!active) continue
      const { fresh, stale, missing, failed, overridden, blocked, ready } = await this.#sheet.counts(field)
      assert.deepEqual({ fresh, stale, missing, failed, overridden }, this.#model.counts(field), field)
      const isBlocked = (id: string): boolean => this.#model.isBlocked(id, field)
      assert.equal(blocked, this.#model.ids().filter(isBlocked).length, `blocked cells of ${field}`)
      const readyIn = (state: CellState): number =>
        this.#model.ids().filter((id) => this.#model.state(id, field) === state && !isBlocked(id)).length
      const expected = { missing: readyIn('missing'), stale: readyIn('stale'), failed: readyIn('failed') }
      assert.deepEqual(ready, expected, `ready cells of ${field}`)
      const items = await store.work({
        targets: [field],
        inputs: [],
        force: true,
        state: null,
        after: null,
        limit: 100,
        only: null,
      })
      assert.deepEqual(
        items.map(({ id, cells }) => [id, cells[0]?.state, cells[0]?.blocked]),
        this.#model.ids().map((id) => [id, this.#model.state(id, field), isBlocked(id)]),
      )
    }
    for (const id of IDS) for (const { name } of this.#model.fields) await this.#checkCell(id, name)
    const names = this.#model.fields.map(({ name }) => name)
    for (const id of IDS) await checkEntriesOfRecord(this.#sheet.store, id, names)
    await this.#checkWriters()
    await this.#checkRun()
  }

  /** Compares the counts of the run with the stored cells. */
  async #checkRun(): Promise<void> {
    const { store } = this.#sheet
    const { computed, failed } = this.#gained
    const run = await store.run(this.#ofRun.run)
    assert.deepEqual([run?.materialized, run?.failed], [computed, failed])
    const query = { run: this.#ofRun.run, limit: 10_000 }
    assert.equal((await store.runEntries({ ...query, before: null })).length, computed)
    assert.equal(await store.runEntryCount(query.run), computed)
    assert.equal((await store.runFailures({ ...query, after: 0 })).length, failed)
  }

  /** Compares the records that conditions on writers select with the latest entries of their cells. */
  async #checkWriters(): Promise<void> {
    const names = this.#model.fields.map(({ name }) => name)
    const isBy = (id: string, field: string, actor: string): boolean => {
      const latest = this.#model.entries(id, field).at(-1)
      return latest?.actor === actor && (this.#model.record(id)?.[field] ?? null) !== null
    }
    for (const actor of [...ACTORS, AGENT]) {
      for (const fields of [null, ...names.map((name) => [name])]) {
        const where = { kind: 'writer', fields, actors: [actor], runs: [] } as const
        const query = { ...FIRST_PAGE, fields: ['id'], limit: 100, where }
        const { records } = await this.#sheet.store.page(query)
        const found = (JSON.parse(String(records)) as { id: string }[]).map(({ id }) => id)
        const expected = this.#model
          .ids()
          .filter((id) => (fields ?? names).some((field) => isBy(id, field, actor)))
        assert.deepEqual(found, expected, `records by ${actor} in ${fields?.join() ?? 'any field'}`)
      }
    }
  }

  async #checkCell(id: string, field: string): Promise<void> {
    const wanted = this.#model.entries(id, field)
    const everSeen = this.#model.entries(id, 'id').length > 0
    const history = await entriesOf(this.#sheet.store, id, field)
    assert.equal(history !== null, everSeen)
    if (history === null) return
    const entries = history.map(({ source, actor, value, previous }) => ({
      source,
      actor,
      value,
      previous,
    }))
    assert.deepEqual(entries, wanted, `${id}, ${field}`)
    const seqs = history.map(({ seq }) => Number(seq))
    assert.deepEqual(
      seqs,
      seqs.toSorted((x, y) => x - y),
    )
    const latest = await this.#sheet.latest(id, field)
    assert.deepEqual(latest, history.at(-1) ?? null)
    const record = this.#model.record(id)
    assert.equal(
      latest?.['value'] ?? null,
      record?.[field] ?? null,
      'the latest entry does not explain the value',
    )
  }
}

function toCellResult(result: ModelResult): CellResult['result'] {
  switch (result.kind) {
    case 'computed':
      return { kind: 'computed', value: result.value, inputHash: result.hash, provenance: { cached: false } }
    case 'unchanged':
    case 'skipped':
      return { kind: result.kind }
    case 'failed':
      return {
        kind: 'failed',
        error: 'GET https://a.example/ -> 503',
        errorType: 'ServiceError',
        reason: 'status',
      }
  }
}
