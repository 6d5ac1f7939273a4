import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOGICAL_TYPES } from '../../src/contract/contract.ts'
import { MAX_LISTED, MAX_LISTED_LENGTH } from '../../src/files/inference/infer-column.ts'
import { MANY_VALUES, SOME_VALUES, USES_OF_LISTED } from '../../src/files/inference/infer-contract.ts'
import { KEY_WORDS, looksLikeKey } from '../../src/files/inference/field-names.ts'
import { kindOf } from '../../src/files/columns/value-kind.ts'
import { code, codes, readPage, section, tableOf } from '../support/markdown.ts'

const page = readPage('docs/reference/inference.md')

test('the types of cells are those of the reference, and its examples have them', () => {
  const { rows } = tableOf(section(page, 'Types'), 'Type')
  assert.deepEqual(new Set(rows.map(([type]) => code(type ?? ''))), new Set(LOGICAL_TYPES))
  for (const [type = '', text = ''] of rows) {
    if (code(type) === 'string' || code(type) === 'boolean') continue
    const [examples = ''] = text.split('. No')
    for (const example of codes(examples).filter((word) => /[0-9[{]/.test(word)))
      assert.equal(kindOf(example, 'text'), code(type), example)
  }
  const [texts = ''] = /Nothing that would change[^.]+/.exec(page) ?? []
  for (const example of codes(texts)) assert.equal(kindOf(example, 'text'), 'text', example)
})

test('the numbers of the rules are those of the reference', () => {
  const rules = section(page, 'Rules')
  assert.match(
    rules,
    new RegExp(`from 2 to ${MAX_LISTED} different values, none longer than ${MAX_LISTED_LENGTH} characters`),
  )
  assert.match(rules, new RegExp(`each at least ${USES_OF_LISTED} times`))
  assert.match(rules, new RegExp(`looks like a key and has at least ${SOME_VALUES} of them`))
  assert.match(rules, new RegExp(`has at least ${MANY_VALUES}`))
})

test('the words of a key are those of the reference, and its examples have one', () => {
  const [, list = '', examples = ''] =
    /one of its words is ([^:]+): ([^.]+)\./.exec(section(page, 'Rules')) ?? []
  assert.deepEqual(codes(list), [...KEY_WORDS])
  assert.equal(codes(examples).length, 3)
  for (const example of codes(examples)) assert.ok(looksLikeKey(example), example)
})
