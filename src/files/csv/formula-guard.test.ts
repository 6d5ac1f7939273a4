import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guardFormula, unguardFormula } from './formula-guard.ts'

const FORMULAS = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠x']

test('a text that starts like a formula gets an apostrophe in front', () => {
  for (const text of FORMULAS) assert.equal(guardFormula(text), `'${text}`)
})

test('any other text is unchanged', () => {
  for (const text of ['', 'a=1', ' =1', "'tis", "'", "''", '1-2', '–1'])
    assert.equal(guardFormula(text), text)
})

test('the guard can be removed again, whatever the text', () => {
  const texts = [
    ...FORMULAS,
    ...FORMULAS.map((text) => `'${text}`),
    ...FORMULAS.map((text) => `'''${text}`),
    "'",
    "''a",
    "'a",
    '',
  ]
  for (const text of texts) assert.equal(unguardFormula(guardFormula(text)), text)
  assert.equal(new Set(texts.map(guardFormula)).size, new Set(texts).size)
})
