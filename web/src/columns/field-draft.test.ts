import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closedListOf, draftProblem, EMPTY_DRAFT, guessType, nameOfHeading } from './field-draft.ts'

test('the type of a field is guessed from its name', () => {
  for (const [name, type] of [
    ['mayor', 'string'],
    ['is_capital', 'boolean'],
    ['checked_at', 'timestamp'],
    ['founding_date', 'date'],
    ['bought_on', 'date'],
    ['population', 'integer'],
    ['populationCount', 'integer'],
    ['area_km2', 'number'],
    ['rated', 'string'],
    ['tags', 'array'],
  ] as const) {
    assert.equal(guessType(name), type, name)
  }
})

test('a heading becomes a field name', () => {
  for (const [heading, name] of [
    ['mayor', 'mayor'],
    [' publisherCountry ', 'publisherCountry'],
    ['Area (km²)', 'area_km2'],
    ['Bürgermeister der Straße', 'burgermeister_der_strasse'],
    ['2024 sales', '_2024_sales'],
    ['人口', ''],
  ] as const) {
    assert.equal(nameOfHeading(heading), name)
  }
})

test('a closed list has values of the type, or names the text that is none', () => {
  assert.deepEqual(closedListOf({ type: 'string', values: 'new\n good \n\n' }), ['new', 'good'])
  assert.deepEqual(closedListOf({ type: 'integer', values: '1\n2' }), [1, 2])
  assert.equal(closedListOf({ type: 'string', values: ' \n' }), null)
  assert.equal(closedListOf({ type: 'array', values: 'new' }), null)
  assert.match(JSON.stringify(closedListOf({ type: 'integer', values: '1\ntwo' })), /Allowed values: .*two/)
})

test('a draft that cannot be a field has a reason', () => {
  const problem = (change: Partial<typeof EMPTY_DRAFT>): string | null =>
    draftProblem({ ...EMPTY_DRAFT, name: 'mayor', ...change }, ['id', 'name'])
  assert.equal(problem({}), null)
  assert.equal(problem({ name: '' }), null)
  assert.match(problem({ name: 'Name' }) ?? '', /There is a field .name. already/)
  assert.match(problem({ name: 'a b' }) ?? '', /letters, digits and _/)
  assert.match(problem({ editors: 'patterns', patterns: ' , ' }) ?? '', /Name who may edit/)
  assert.match(problem({ type: 'integer', values: 'x' }) ?? '', /Allowed values/)
})
