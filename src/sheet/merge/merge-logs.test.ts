import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { parseLine } from '../../provenance/log-line.ts'
import { withoutValues } from '../../provenance/erased-line.ts'
import { mergeLogs, UnmergeableLog, type MergedLog } from '../../provenance/merge/merge-logs.ts'
import { seededRandom, type Random } from '../../store/suite/support/random.ts'
import { Differences } from '../verify/differences.ts'
import { verifyLog } from '../verify/verify-log.ts'
import { mergeRecords, type RecordConflict } from './merge-records.ts'

const FIELDS = ['x', 'y', 'z'] as const

/** A log as a store writes it, with the records that it leaves. */
class Log {
  readonly lines: string[]
  readonly records: Map<string, JsonObject>
  readonly #actor: string
  #minute: number

  constructor(actor: string, from?: Log, minute = 0) {
    this.lines = [...(from?.lines ?? [])]
    this.records = new Map(from?.records)
    this.#actor = actor
    this.#minute = minute
  }

  add(line: JsonObject): number {
    const seq = this.lines.length + 1
    this.#minute += 1
    const at = new Date(Date.UTC(2026, 0, 1, 0, this.#minute)).toISOString()
    this.lines.push(JSON.stringify({ seq, at, actor: this.#actor, ...line }))
    return seq
  }

  write(id: string, values: JsonObject): void {
    const record = this.records.get(id)
    const changed: JsonObject =
      record === undefined
        ? { id, x: null, y: null, z: null, ...values }
        : Object.fromEntries(Object.entries(values).filter(([name, value]) => record[name] !== value))
    if (Object.keys(changed).length === 0) return
    const previous = Object.fromEntries(Object.keys(changed).map((name) => [name, record?.[name] ?? null]))
    this.add({ source: 'write', record_id: id, values: changed, previous })
    this.records.set(id, { ...record, ...changed })
  }

  /** Creates records as an import of a file does. */
  import(records: readonly (JsonObject & { id: string })[]): number {
    const rows = records.map((record) => ['id', ...FIELDS].map((name) => record[name] ?? null))
    for (const record of records) this.records.set(record.id, { x: null, y: null, z: null, ...record })
    const file = { file: 'more.csv', run_id: '1' }
    return this.add({ source: 'import', ...file, fields: ['id', ...FIELDS], records: rows.length, rows })
  }

  compute(id: string, field: string, value: JsonValue): void {
    const record = this.records.get(id)
    const previous = record?.[field] ?? null
    const hash = { input_hash: `sha256:${'0'.repeat(64)}`, derivation: 'd.yaml', run_id: '1' }
    this.add({ source: 'sql', record_id: id, field, value, previous, ...hash })
    this.records.set(id, { ...record, [field]: value })
  }

  review(id: string, field: string): void {
    const value = this.records.get(id)?.[field] ?? null
    this.add({ source: 'review', record_id: id, reviewed: field, verdict: 'approved', value })
  }

  delete(id: string): void {
    const record = this.records.get(id) ?? {}
    const previous = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
    const values = Object.fromEntries(Object.keys(previous).map((name) => [name, null]))
    this.add({ source: 'delete', record_id: id, values, previous })
    this.records.delete(id)
  }

  /** Erases the values of a field from the lines of a record, as a store does. */
  erase(id: string, field: string): void {
    const seqs: number[] = []
    for (const [index, line] of this.lines.entries()) {
      const left = withoutValues(line, { recordId: id, isErased: (name) => name === field })
      if (left === null) continue
      this.lines[index] = left
      seqs.push(index + 1)
    }
    const values = { [field]: null }
    this.add({ source: 'erase', lines: seqs, record_id: id, values, previous: values })
    this.records.set(id, { ...this.records.get(id), ...values })
  }
}

function merge(ours: Log, theirs: Log): MergedLog & { readonly lines: JsonObject[] } {
  const merged = mergeLogs(ours.lines, theirs.lines)
  return { ...merged, lines: merged.added.map((text) => parseLine(text) ?? {}) }
}

/** Verifies that a log leaves these records. */
function differencesOf(lines: readonly string[], records: Iterable<JsonObject>): readonly string[] {
  const differences = new Differences()
  verifyLog(
    {
      lines: lines.map((text) => ({ seq: null, text, line: parseLine(text) })),
      records: [...records].map((record) => JSON.stringify(record)),
      historyAfter: 0,
      source: null,
      checkpoints: { own: [], outside: [], key: null },
    },
    differences,
  )
  return differences.listed.map((one) => JSON.stringify(one))
}

function twoBranches(): { readonly ours: Log; readonly theirs: Log } {
  const base = new Log('human:ann')
  base.write('a', { x: 1, y: 1 })
  base.write('b', { x: 1 })
  return { ours: new Log('human:ann', base, 60), theirs: new Log('human:bob', base, 30) }
}

test('lines of the other log follow with new numbers, and not before the last line', () => {
  const { ours, theirs } = twoBranches()
  ours.write('a', { x: 2 })
  theirs.write('b', { x: 5 })
  const { lines, theirs: count, proposals } = merge(ours, theirs)
  assert.deepEqual(lines, [
    {
      seq: 4,
      at: '2026-01-01T01:01:00.000Z',
      actor: 'human:bob',
      source: 'write',
      record_id: 'b',
      values: { x: 5 },
      previous: { x: 1 },
      written_at: '2026-01-01T00:31:00.000Z',
    },
  ])
  assert.deepEqual([count, proposals], [1, 0])
})

test('of a cell that both have changed, the other value is a proposal by who wrote it', () => {
  const { ours, theirs } = twoBranches()
  ours.write('a', { x: 2, y: 2 })
  theirs.write('a', { x: 3, y: 2, z: 'new' })
  const { lines } = merge(ours, theirs)
  assert.deepEqual(
    lines.map(({ seq, actor, source, values, previous, proposed, present }) =>
      source === 'proposal' ? { seq, actor, proposed, present } : { seq, actor, values, previous },
    ),
    [
      { seq: 4, actor: 'human:bob', values: { z: 'new' }, previous: { z: null } },
      { seq: 5, actor: 'human:bob', proposed: { x: 3 }, present: { x: 2 } },
    ],
  )
  assert.equal(lines[1]?.['written_at'], '2026-01-01T00:31:00.000Z')
})

test('a computed value is not proposed: the next run computes it from the merged inputs', () => {
  const { ours, theirs } = twoBranches()
  ours.compute('a', 'z', 'one')
  theirs.compute('a', 'z', 'two')
  assert.deepEqual(merge(ours, theirs).lines, [])
})

test('a record that one has deleted and the other changed is kept, and its deletion is proposed', () => {
  const { ours, theirs } = twoBranches()
  ours.write('a', { y: 7 })
  ours.delete('a')
  ours.write('b', { x: 2 })
  theirs.write('a', { x: 5 })
  theirs.delete('b')
  const { lines, keptRecords } = merge(ours, theirs)
  assert.deepEqual([...keptRecords].toSorted(), ['a', 'b'])
  const [restored, ...proposals] = lines
  assert.deepEqual(
    [restored?.['source'], restored?.['reverts'], restored?.['values'], restored?.['actor']],
    ['revert', 4, { id: 'a', x: 5, y: 1 }, 'human:bob'],
  )
  assert.deepEqual(
    proposals.map(({ record_id: id, actor, proposed }) => ({ id, actor, proposed })),
    [
      { id: 'a', actor: 'human:ann', proposed: null },
      { id: 'b', actor: 'human:bob', proposed: null },
    ],
  )
})

test('computed cells of a record that is kept stay computed, those of lines before both branches included', () => {
  const start = new Log('human:eve')
  start.write('a', { x: 1 })
  start.compute('a', 'y', 'computed')
  start.compute('a', 'z', 'computed')
  start.write('a', { z: 'by hand' })
  const [ours, theirs] = [new Log('human:ann', start, 10), new Log('human:bob', start, 20)]
  ours.delete('a')
  theirs.write('a', { x: 2 })
  const { lines } = merge(ours, theirs)
  assert.deepEqual(
    lines.map(({ source, field, value, values, input_hash: hash, derivation }) => ({
      source,
      ...(values !== undefined && { values }),
      ...(field !== undefined && { field, value, hash, derivation }),
    })),
    [
      { source: 'revert', values: { id: 'a', x: 2, z: 'by hand' } },
      {
        source: 'revert',
        field: 'y',
        value: 'computed',
        hash: `sha256:${'0'.repeat(64)}`,
        derivation: 'd.yaml',
      },
      { source: 'proposal' },
    ],
  )
})

test('runs, proposals and lines that lines name keep their identity', () => {
  const { ours, theirs } = twoBranches()
  ours.compute('a', 'y', 8)
  theirs.write('a', { x: 9 })
  theirs.compute('b', 'y', 8)
  const undone = { source: 'revert', record_id: 'b', field: 'y', value: null, previous: 8, reverts: 4 }
  theirs.add({ ...undone, run_id: '2', proposal: '3' })
  const { lines } = merge(ours, theirs)
  assert.deepEqual(
    lines.map(({ seq, run_id: run, reverts, proposal }) => ({ seq, run, reverts, proposal })),
    [
      { seq: 4, run: undefined, reverts: undefined, proposal: undefined },
      { seq: 5, run: '2', reverts: undefined, proposal: undefined },
      { seq: 6, run: '3', reverts: 5, proposal: '3' },
    ],
  )
})

test('imports of copies of the same file are left out; another file cannot be merged', () => {
  const importLine = (sha256: string): JsonObject => ({ source: 'import', file: 'r', sha256, records: 1 })
  const [ours, theirs, other] = ['ann', 'bob', 'eve'].map((name) => new Log(`human:${name}`)) as [
    Log,
    Log,
    Log,
  ]
  ours.add(importLine('same'))
  theirs.add({ ...importLine('same'), actor: 'human:bob' })
  other.add(importLine('another'))
  assert.deepEqual(merge(ours, theirs).added, [])
  assert.throws(() => merge(ours, other), UnmergeableLog)
})

test('records of an imported file keep one line; where the other branch has one of them, each has its own', () => {
  const { ours, theirs } = twoBranches()
  const seq = theirs.import([
    { id: 'm', x: 1 },
    { id: 'n', x: 2, y: 3 },
  ])
  theirs.add({ source: 'revert', record_id: 'n', field: 'y', value: null, previous: 3, reverts: seq })
  theirs.records.set('n', { id: 'n', x: 2, y: null, z: null })
  ours.write('o', { x: 1 })
  const whole = merge(ours, theirs)
  assert.deepEqual(
    whole.lines.map(({ seq: at, records, reverts = null }) => [at, records ?? null, reverts]),
    [
      [4, 2, null],
      [5, null, 4],
    ],
  )
  const all = [...ours.records.values(), ...['m', 'n'].map((id) => theirs.records.get(id) ?? {})]
  assert.deepEqual(differencesOf([...ours.lines, ...whole.added], all), [])

  ours.write('m', { x: 1, y: 7 })
  const { lines, proposals } = merge(ours, theirs)
  assert.equal(proposals, 0)
  const [n, reverted] = lines.filter(({ record_id: id }) => id === 'n')
  assert.deepEqual(
    [n?.['source'], n?.['file'], n?.['values']],
    ['import', 'more.csv', { id: 'n', x: 2, y: 3 }],
  )
  assert.equal(reverted?.['reverts'], n?.['seq'])
})

test('a change of fields is merged only with changes of other fields', () => {
  const { ours, theirs } = twoBranches()
  theirs.add({ source: 'contract', renamed: { x: 'width' } })
  assert.equal(merge(ours, theirs).added.length, 1)
  ours.write('a', { y: 2 })
  assert.equal(merge(ours, theirs).added.length, 1)
  ours.write('a', { x: 2 })
  assert.throws(() => merge(ours, theirs), /have? renamed.*x, width|has renamed/)
  assert.throws(() => merge(theirs, ours), UnmergeableLog)
})

test('random logs: the merged log leaves the merged records, and what ours does not have is proposed', () => {
  const random = seededRandom(2026)
  for (let round = 0; round < 600; round += 1) {
    const base = new Log('human:ann')
    change(base, random, 6)
    const ours = new Log('human:ann', base, 100 + random.below(50))
    const theirs = new Log('human:bob', base, 100 + random.below(50))
    change(ours, random, random.below(7))
    change(theirs, random, random.below(7))
    const hint = JSON.stringify({ base: base.lines, ours: ours.lines, theirs: theirs.lines }, null, 1)
    const { added, lines } = merge(ours, theirs)
    const conflicts: RecordConflict[] = []
    const texts = mergeRecords(
      { base: textsOf(base), ours: textsOf(ours), theirs: textsOf(theirs) },
      (conflict) => conflicts.push(conflict),
    )
    const records = [...texts].map((text) => JSON.parse(text) as JsonObject)
    const faults = differencesOf([...ours.lines, ...added], records).filter((one) => !one.includes(LATE))
    assert.deepEqual(faults, [], hint)
    assert.deepEqual(
      [...ours.lines, ...added].map((text) => parseLine(text)?.['seq']),
      [...ours.lines, ...added].map((_, index) => index + 1),
    )
    const times = lines.map(({ at }) => String(at))
    assert.deepEqual(times, times.toSorted())
    for (const { id, kind, field, theirs: value } of conflicts) {
      const proposal = lines.find(
        ({ source, record_id: of, proposed }) =>
          source === 'proposal' &&
          of === id &&
          (kind === 'value' ? (proposed as JsonObject | null)?.[field ?? ''] === value : proposed === null),
      )
      const isComputed = field === 'z' && kind === 'value'
      assert.ok(isComputed || proposal !== undefined, `${JSON.stringify({ id, kind, field })} ${hint}`)
    }
    assert.deepEqual(mergeLogs(ours.lines, ours.lines).added, [])
    const without = (text: string): JsonObject => ({ ...parseLine(text), at: null, written_at: null })
    assert.deepEqual(
      mergeLogs(base.lines, theirs.lines).added.map(without),
      theirs.lines.slice(base.lines.length).map(without),
    )
  }
})

/** Records that were restored or created in another order than in the file. */
const LATE = 'comes after records that were created later'

function textsOf(log: Log): string[] {
  return [...log.records.values()].map((record) => JSON.stringify(record))
}

function change(log: Log, random: Random, times: number): void {
  for (let done = 0; done < times; done += 1) {
    const id = random.pick(['a', 'b', 'c'])
    const exists = log.records.has(id)
    const others = ['a', 'b', 'c', 'd', 'e'].filter((other) => !log.records.has(other))
    if (others.length > 1 && random.chance(0.2)) {
      log.import(others.map((other) => ({ id: other, x: random.below(3), y: random.pick([null, 1]) })))
      continue
    }
    const kind = random.below(10)
    if (!exists) log.write(id, { x: random.below(3), ...(random.chance(0.5) ? { y: random.below(2) } : {}) })
    else if (kind < 5) log.write(id, { [random.pick(FIELDS.slice(0, 2))]: random.below(3) })
    else if (kind < 7) log.compute(id, 'z', random.below(3))
    else if (kind < 8) log.review(id, random.pick(FIELDS))
    else log.delete(id)
  }
}

test('values that one branch has erased are erased in the merged log, and the other one has not changed their record', () => {
  const base = new Log('human:base')
  base.write('a', { x: 'secret', y: 1 })
  base.write('b', { x: 'plain' })
  const theirs = new Log('human:bob', base, 10)
  theirs.write('a', { x: 'other secret' })
  theirs.erase('a', 'x')
  const ours = new Log('human:ann', base, 20)
  ours.write('b', { x: 'changed' })
  for (const [one, other] of [
    [ours, theirs],
    [theirs, ours],
  ] as const) {
    const merged = merge(one, other)
    const lines = [...merged.ours, ...merged.added]
    assert.ok(!lines.join('').includes('secret'))
    const records = [
      { id: 'a', x: null, y: 1, z: null },
      { id: 'b', x: 'changed', y: null, z: null },
    ]
    assert.deepEqual(differencesOf(lines, records), [])
  }
  ours.write('a', { y: 2 })
  assert.throws(() => merge(ours, theirs), UnmergeableLog)
  assert.throws(() => merge(theirs, ours), UnmergeableLog)
})
