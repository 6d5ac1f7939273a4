import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { complete, completionAt } from './sql-completion.ts'

const FIELDS = [
  { name: 'area', title: 'Area' },
  { name: 'area_text', title: 'Area, as written' },
  { name: 'order', title: 'Order' },
  { name: 'name_de', title: 'Name in German' },
]

suite('the completion of SQL', () => {
  /** The caret is where the bar stands. */
  const at = (given: string) => {
    const caret = given.indexOf('|')
    const text = given.replace('|', '')
    return { text, caret, found: completionAt(text, caret, { fields: FIELDS, dialect: 'sqlite' }) }
  }
  const labels = (given: string) => at(given).found?.options.map(({ label }) => label) ?? []
  const first = (given: string) => {
    const { text, caret, found } = at(given)
    const [option] = found?.options ?? []
    if (found === null || option === undefined) return null
    const done = complete(text, caret, found, option)
    return `${done.text.slice(0, done.caret)}|${done.text.slice(done.caret)}`
  }

  test('finds fields by name or title, those that begin with the text first', () => {
    assert.deepEqual(labels('ar|'), ['area', 'area_text'])
    assert.deepEqual(labels('AREA > 1 AND germ|'), ['name_de'])
    assert.equal(first('1 = 1 AND ar|'), '1 = 1 AND area|')
    assert.equal(first('lower(nam| = 1)'), 'lower(name_de| = 1)')
  })

  test('quotes names that are SQL keywords, and continues within quotes', () => {
    assert.equal(first('ord|'), '"order"|')
    assert.equal(first('"ar|'), '"area"|')
    assert.equal(first('"ar|" > 1'), '"area"| > 1')
  })

  test('offers nothing within texts, within words and after a complete word', () => {
    for (const given of ["name_de = 'ar|", "x = 'it''s ar|", '|', 'area > |', 'ar|ea', '12ar|', 'name_de|']) {
      assert.deepEqual(labels(given), [], given)
    }
    assert.deepEqual(labels("x = 'y' AND name|"), ['name_de'])
    assert.deepEqual(labels('BETW|'), ['BETWEEN'])
  })

  test('offers the functions of the dialect', () => {
    const offered = (text: string, dialect: 'sqlite' | 'postgres') =>
      completionAt(text, text.length, { fields: [], dialect })?.options.map(({ label }) => label) ?? []
    assert.deepEqual(offered('json', 'sqlite'), ['json_each('])
    assert.deepEqual(offered('json', 'postgres'), ['jsonb_exists('])
    assert.deepEqual(offered('ili', 'postgres'), ['ILIKE'])
  })
})
