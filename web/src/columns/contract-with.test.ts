import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toSheetContract, type ContractDocument } from '../api/contract.ts'
import { lostOptions, withChangedField, withField, withoutField } from './contract-with.ts'
import { draftOf, EMPTY_DRAFT, type FieldDraft } from './field-draft.ts'

const id = {
  name: 'id',
  logicalType: 'string',
  primaryKey: true,
  customProperties: [{ property: 'idFrom', value: ['state', 'name'] }],
}
const state = {
  name: 'state',
  logicalType: 'string',
  tags: ['kept'],
  logicalTypeOptions: { maxLength: 9 },
  quality: [
    { metric: 'nullValues', mustBe: 0 },
    { metric: 'invalidValues', arguments: { validValues: ['1', '2'] }, mustBe: 0 },
  ],
  customProperties: [{ property: 'editableBy', value: ['agent:x'] }],
}
const sum = { name: 'sum', logicalType: 'number', 'x-inputs': ['state'], derived: { inputs: ['state'] } }
const document = {
  apiVersion: 'v3.1.0',
  schema: [{ name: 'towns', properties: [id, state, sum] }],
} as unknown as ContractDocument

function propertiesIn(
  changed: Readonly<Record<string, unknown>>,
): readonly Readonly<Record<string, unknown>>[] {
  return (changed as unknown as ContractDocument).schema[0].properties as never
}

function changedState(change: Partial<FieldDraft>): readonly Readonly<Record<string, unknown>>[] {
  const field = toSheetContract(document).fieldByName.get('state')
  assert.ok(field)
  const before = draftOf(field)
  return propertiesIn(withChangedField(document, 'state', { before, draft: { ...before, ...change } }))
}

test('a new field has only what was set, and its place', () => {
  const draft: FieldDraft = {
    ...EMPTY_DRAFT,
    name: 'mayor',
    title: 'The mayor',
    editors: 'people',
    values: 'a\nb',
  }
  const [, added] = propertiesIn(withField(document, draft, { beside: 'state', side: 'before' }))
  assert.deepEqual(added, {
    name: 'mayor',
    logicalType: 'string',
    businessName: 'The mayor',
    required: false,
    unique: false,
    quality: [{ metric: 'invalidValues', arguments: { validValues: ['a', 'b'] }, mustBe: 0 }],
    customProperties: [{ property: 'editableBy', value: ['human:*'] }],
  })
  const names = (place: Parameters<typeof withField>[2]): unknown[] =>
    propertiesIn(withField(document, draft, place)).map(({ name }) => name)
  assert.deepEqual(names(null), ['id', 'state', 'sum', 'mayor'])
  assert.deepEqual(names({ beside: 'state', side: 'after' }), ['id', 'state', 'mayor', 'sum'])
})

test('a changed field keeps what the form did not change', () => {
  assert.deepEqual(changedState({}), [id, state, sum])
  assert.deepEqual(changedState({ description: 'Which one' })[1], { ...state, description: 'Which one' })
  assert.deepEqual(changedState({ editors: 'default' })[1]?.['customProperties'], undefined)
  assert.deepEqual(changedState({ editors: 'nobody' })[1]?.['customProperties'], [
    { property: 'editableBy', value: [] },
  ])
  assert.deepEqual(changedState({ values: '' })[1]?.['quality'], [{ metric: 'nullValues', mustBe: 0 }])
})

test('a new name is also that in the inputs and the source of ids of others', () => {
  const [key, renamed, other] = changedState({ name: 'status' })
  assert.deepEqual(key?.['customProperties'], [{ property: 'idFrom', value: ['status', 'name'] }])
  assert.equal(renamed?.['name'], 'status')
  assert.deepEqual(other?.['x-inputs'], ['status'])
})

test('another type converts the closed list, and removes constraints that it does not have', () => {
  const [, converted] = changedState({ type: 'integer' })
  assert.deepEqual(converted?.['quality'], [
    { metric: 'nullValues', mustBe: 0 },
    { metric: 'invalidValues', arguments: { validValues: [1, 2] }, mustBe: 0 },
  ])
  assert.equal(Object.hasOwn(converted ?? {}, 'logicalTypeOptions'), false)
  assert.deepEqual(changedState({ type: 'array' })[1]?.['quality'], [{ metric: 'nullValues', mustBe: 0 }])
  assert.deepEqual(lostOptions({ maxLength: 9 }, 'string', 'integer'), ['maxLength'])
  assert.deepEqual(lostOptions({ minimum: 0, format: 'u8' }, 'integer', 'number'), ['format'])
  assert.deepEqual(lostOptions({ maxLength: 9 }, 'string', 'string'), [])
})

test('a removed field is absent', () => {
  assert.deepEqual(
    propertiesIn(withoutField(document, 'state')).map(({ name }) => name),
    ['id', 'sum'],
  )
})
