import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PreviewAnswer } from '../../../src/wire/definition/preview.ts'
import { toSheetContract, type ContractDocument } from '../api/contract.ts'
import { KIND_TEMPLATES } from '../derivations/forms/templates.ts'
import {
  cellsOf,
  contractTextOf,
  contractWith,
  firstText,
  newFileFor,
  targetsOf,
  withFields,
  withTargets,
} from './computed-draft.ts'
import { EMPTY_DRAFT } from './field-draft.ts'

type PreviewRow = PreviewAnswer['records'][number]

const contract = toSheetContract({
  schema: [
    {
      name: 'towns',
      properties: [
        { name: 'id', logicalType: 'string', primaryKey: true },
        { name: 'area', logicalType: 'number', derived: { derivation: 'a.yaml', kind: 'sql', inputs: [] } },
      ],
    },
  ],
})
const drafts = ['one', 'two'].map((name) => ({ ...EMPTY_DRAFT, name }))

test('new columns stand side by side, and a preview has them without what the service adds', () => {
  const { schema } = withFields(contract.document, drafts, {
    beside: 'id',
    side: 'after',
  }) as unknown as ContractDocument
  assert.deepEqual(
    schema[0].properties.map(({ name }) => name),
    ['id', 'one', 'two', 'area'],
  )
  const drafted = contractWith(contract, drafts)
  assert.deepEqual([...drafted.fieldByName.keys()], ['id', 'area', 'one', 'two'])
  const sent = JSON.parse(contractTextOf(drafted)) as ContractDocument
  assert.equal(sent.schema[0].properties[1]?.derived, undefined)
})

test('a new file has the name of the field, and a number where there is such a file', () => {
  assert.equal(newFileFor('country_name', []), 'country-name.yaml')
  assert.equal(newFileFor('Rate', ['rate.yaml', 'rate-2.yaml']), 'rate-3.yaml')
})

test('the fields that a text fills are changed in every kind', () => {
  for (const template of KIND_TEMPLATES) {
    const text = firstText(contract, template, 'one')
    assert.deepEqual(targetsOf(text), ['one'], template.kind)
    const renamed = withTargets(text, () => ['two'])
    assert.deepEqual(targetsOf(renamed), ['two'], template.kind)
  }
  const [, http] = KIND_TEMPLATES
  assert.ok(http)
  const both = withTargets(firstText(contract, http, 'one'), (targets) => [...targets, 'two'])
  assert.deepEqual(targetsOf(both), ['one', 'two'])
  assert.equal(
    withTargets('targets: [', () => ['two']),
    'targets: [',
    'a text that is not YAML stays',
  )
})

test('previewed values are by record, failures among them', () => {
  const row = (id: string, found: Partial<PreviewRow>): PreviewRow => ({
    record_id: id,
    outcome: 'computed',
    inputs: {},
    request: null,
    values: {},
    failures: {},
    blocked_by: null,
    evidence: null,
    response: null,
    cut: [],
    calls: 0,
    cost: 0,
    ms: 0,
    ...found,
  })
  const failure = { error: 'no', error_type: 'x', reason: 'y' }
  const records = [row('a', { values: { one: 1 } }), row('b', { failures: { one: failure } })]
  assert.deepEqual(
    [...cellsOf({ records }, 'one')],
    [
      ['a', { value: 1, isFailed: false }],
      ['b', { value: null, isFailed: true }],
    ],
  )
  assert.equal(cellsOf(null, 'one').size, 0)
})
