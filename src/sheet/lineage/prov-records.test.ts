import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { ProvWriter } from './prov-document.ts'
import { ProvRecords, type ProvContext } from './prov-records.ts'

/** Returns the statements about lines, each as its map and the members of its relation, or its id and value. */
function statementsOf(lines: readonly JsonObject[], context: Partial<ProvContext> = {}): readonly string[] {
  const statements: string[] = []
  const writer = new ProvWriter((map, id, members) => {
    const value = members['prov:value']
    const shown = id.startsWith('_:') ? Object.values(members).map(short).join(' ') : short(id)
    statements.push(`${map} ${shown}${value === undefined ? '' : ` = ${JSON.stringify(value)}`}`)
  })
  const records = new ProvRecords(writer, {
    fieldAt: (name) => name,
    inputsOf: () => [],
    importBefore: () => null,
    ...context,
  })
  for (const [index, line] of lines.entries())
    records.add({ seq: index + 10, at: 'T', actor: 'human:ann', ...line })
  records.end()
  return statements.filter((text) => !/^(?:agent|wasAssociatedWith|wasAttributedTo) /.test(text))
}

const short = (value: JsonValue): string => String(value).replace(/^sheet:/, '')

const write = (values: JsonObject, previous: JsonObject): JsonObject => ({
  source: 'write',
  record_id: 'a',
  values,
  previous,
})

/** The seq of the import of `records.jsonl`. */
const IMPORTED = { importBefore: (seq: number) => (seq > 1 ? 1 : null) }

test('a new value is an entity that the write generated, and the value before is invalidated', () => {
  assert.deepEqual(
    statementsOf([
      write({ id: 'a', x: 1, y: null }, { id: null, x: null, y: null }),
      write({ x: null }, { x: 1 }),
      write({ x: [1] }, { x: null }),
    ]),
    [
      'activity write/10',
      'entity value/a/x/10 = 1',
      'wasGeneratedBy value/a/x/10 write/10 T',
      'activity write/11',
      'wasInvalidatedBy value/a/x/10 write/11 T',
      'activity write/12',
      'entity value/a/x/12 = {"$":"[1]","type":"colophon:json"}',
      'wasGeneratedBy value/a/x/12 write/12 T',
    ],
  )
})

test('a value of records.jsonl is described when it is used or replaced', () => {
  const computed = {
    source: 'http',
    record_id: 'a',
    field: 'z',
    value: 'Z',
    previous: null,
    run_id: '7',
    derivation: 'z.yaml',
  }
  assert.deepEqual(
    statementsOf([computed, write({ x: 2, w: 3 }, { x: 1, w: null })], {
      ...IMPORTED,
      inputsOf: () => ['x', 'y'],
    }).filter((text) => !text.startsWith('activity')),
    [
      'entity derivation/z.yaml',
      'wasStartedBy run/7/z.yaml run/7',
      'entity value/a/z/10 = "Z"',
      'wasGeneratedBy value/a/z/10 run/7/z.yaml T',
      'wasDerivedFrom value/a/z/10 value/a/x/1 run/7/z.yaml',
      'wasDerivedFrom value/a/z/10 value/a/y/1 run/7/z.yaml',
      'entity value/a/x/1 = 1',
      'wasGeneratedBy value/a/x/1 import/1',
      'wasInvalidatedBy value/a/x/1 write/11 T',
      'entity value/a/x/11 = 2',
      'wasGeneratedBy value/a/x/11 write/11 T',
      'entity value/a/w/11 = 3',
      'wasGeneratedBy value/a/w/11 write/11 T',
      // It was used and never replaced, so that the log does not have it.
      'entity value/a/y/1',
      'wasGeneratedBy value/a/y/1 import/1',
    ],
  )
})

test('a record that a line created did not come with records.jsonl', () => {
  const created = write({ id: 'a', x: 1 }, { id: null, x: null })
  const review = { source: 'review', record_id: 'a', reviewed: 'y', verdict: 'approved', value: null }
  assert.deepEqual(
    statementsOf([created, review], IMPORTED).filter((text) => text.startsWith('used')),
    [],
  )
  assert.deepEqual(
    statementsOf([review], IMPORTED).filter((text) => text.startsWith('used')),
    ['used review/10 value/a/y/1'],
  )
})

test('a reverted or restored value is derived from the one that it was before, under the name of that time', () => {
  const fieldAt = (name: string): string => (name === 'old' ? 'new' : name)
  const statements = statementsOf(
    [
      write({ id: 'a', old: 1 }, { id: null, old: null }),
      write({ new: 2 }, { new: 1 }),
      { source: 'revert', record_id: 'a', field: 'new', value: 1, previous: 2, reverts: 11 },
      { source: 'delete', record_id: 'a', values: { id: null, new: null }, previous: { id: 'a', new: 1 } },
      { source: 'revert', record_id: 'a', reverts: 13, ...restored({ id: 'a', new: 1 }) },
    ],
    { fieldAt },
  )
  assert.deepEqual(
    statements.filter((text) => /^was(?:Derived|Invalidated)/.test(text)),
    [
      'wasInvalidatedBy value/a/old/10 write/11 T',
      'wasInvalidatedBy value/a/new/11 revert/12 T',
      'wasDerivedFrom value/a/new/12 value/a/old/10 revert/12',
      'wasInvalidatedBy value/a/new/12 delete/13 T',
      'wasDerivedFrom value/a/new/14 value/a/new/12 revert/14',
    ],
  )
})

test('who proposed a value is its author, and who accepted it is responsible for the write', () => {
  const relations: string[] = []
  const writer = new ProvWriter((map, _, members) => {
    if (/^was(?:Attributed|Associated)/.test(map))
      relations.push(`${map} ${Object.values(members).map(short).join(' ')}`)
  })
  const records = new ProvRecords(writer, { fieldAt: String, inputsOf: () => [], importBefore: () => null })
  const line = write({ id: 'a', x: 1 }, { id: null, x: null })
  records.add({ seq: 1, at: 'T', actor: 'human:ann', proposed_by: 'agent:bot', proposal: '3', ...line })
  assert.deepEqual(relations, [
    'wasAssociatedWith write/1 actor/human%3Aann',
    'wasAssociatedWith write/1 actor/agent%3Abot proposer',
    'wasAttributedTo value/a/x/1 actor/agent%3Abot',
  ])
})

test('a line whose value nobody knows describes none', () => {
  const line = {
    source: 'folio',
    record_id: 'a',
    field: 'x',
    value: null,
    previous: null,
    unknown: ['value'],
  }
  assert.deepEqual(statementsOf([line]), [])
})

function restored(values: JsonObject): JsonObject {
  return { values, previous: Object.fromEntries(Object.keys(values).map((name) => [name, null])) }
}

test('a record that is imported again has the values of that import', () => {
  const computed = {
    source: 'http',
    record_id: 'a',
    field: 'z',
    value: 'Z',
    previous: null,
    run_id: '7',
    derivation: 'z.yaml',
  }
  const statements = statementsOf(
    [
      write({ id: 'a', x: 1 }, { id: null, x: null }),
      { ...computed, seq: 20 },
      { ...write({ x: 6 }, { x: 5 }), seq: 21 },
    ],
    { inputsOf: () => ['x'], importBefore: (seq) => (seq > 15 ? 15 : null) },
  )
  assert.ok(
    statements.includes('wasDerivedFrom value/a/z/20 value/a/x/15 run/7/z.yaml'),
    statements.join('\n'),
  )
  assert.ok(statements.includes('entity value/a/x/15 = 5'), statements.join('\n'))
})
