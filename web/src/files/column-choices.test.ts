import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choiceFault, choicesOf, columnMapOf, newFieldOf, newFieldsOf, withField } from './column-choices.ts'

const column = (name: string, field: string | null) => ({
  name,
  field,
  samples: [],
  new_field: { name: `${name}_2`, type: 'number' },
})
const RULES = { ids: null, keyTitle: 'Code', titleOf: (name: string) => name.toUpperCase() }

test('columns without a field are left out, and new fields until they exist', () => {
  const weight = column('weight', null)
  const choices = choicesOf([column('key', 'id'), weight])
  assert.deepEqual(columnMapOf(choices), { key: 'id', weight: null })
  const added = new Map(choices).set('weight', newFieldOf(weight))
  assert.deepEqual(columnMapOf(added), { key: 'id', weight: null })
  assert.deepEqual(newFieldsOf(added), [{ column: 'weight', name: 'weight_2', type: 'number' }])
  assert.deepEqual(columnMapOf(withField(added, 'weight', 'weight_2')), { key: 'id', weight: 'weight_2' })
})

test('records need ids, and a field has one column', () => {
  const named = choicesOf([column('a', null)])
  assert.match(choiceFault(named, RULES) ?? '', /map it to Code/)
  assert.equal(choiceFault(named, { ...RULES, ids: 'numbers' }), null)
  assert.equal(choiceFault(choicesOf([column('a', 'id')]), RULES), null)
  assert.match(
    choiceFault(choicesOf([column('a', 'id'), column('b', 'id')]), RULES) ?? '',
    /Both “a” and “b” are mapped to ID/,
  )
})
