import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, suite, test } from 'node:test'
import { conditionsToFilter } from './condition-sql.ts'
import type { Condition, ConditionValue, Operator } from './conditions.ts'

/** A name that D5 forbids, and names that mean something to SQLite or to json_each. */
const FIELDS = ['id', 'order', 'a"b', "o'clock", 'value', 'type', 'word', 'n', 'done', 'at', 'tags']

suite('the SQL of conditions', () => {
  const database = new DatabaseSync(':memory:')
  after(() => database.close())
  const columns = FIELDS.map((name) => `"${name.replaceAll('"', '""')}"`)
  database.exec(`CREATE TABLE data (${columns.join(', ')})`)

  /** The records, by id, that conditions let through: as the server puts them into a statement. */
  function matching(...conditions: Condition[]): string {
    const filter = conditionsToFilter(conditions)
    for (const sql of [
      `SELECT id FROM (SELECT ${columns.join(', ')} FROM data) AS records WHERE (\n${filter}\n)`,
      `SELECT CASE WHEN\n${filter}\nTHEN 1 END FROM data AS records`,
    ]) {
      database.prepare(sql)
    }
    const rows = database
      .prepare(`SELECT id FROM (SELECT ${columns.join(', ')} FROM data) AS records WHERE (\n${filter}\n)`)
      .all()
    return rows.map(({ id }) => String(id)).join('')
  }

  /** Puts records `a`, `b`, `c` … with these values of a field. */
  function fill(field: string, values: readonly (string | number | null)[]): void {
    database.exec('DELETE FROM data')
    const name = columns[FIELDS.indexOf(field)] ?? ''
    const insert = database.prepare(`INSERT INTO data (id, ${name}) VALUES (?, ?)`)
    for (const [index, value] of values.entries()) insert.run('abcdefghij'.charAt(index), value)
  }

  const on = (field: string) => (is: Operator, value: ConditionValue) => matching({ field, is, value })

  test('texts, with quotes and with letters that are special elsewhere', () => {
    fill('word', ["it's", '50%', 'a_b', 'A\\B', '', null, 'Ärger', '"x"', "'; --", '*?['])
    const word = on('word')
    assert.equal(word('equals', "it's"), 'a')
    assert.equal(word('equals', ''), 'e')
    assert.equal(word('differs', "it's"), 'bcdefghij')
    assert.equal(word('contains', "T'"), 'a')
    assert.equal(word('contains', '%'), 'b')
    assert.equal(word('contains', '_'), 'c')
    assert.equal(word('contains', '\\b'), 'd')
    assert.equal(word('contains', 'äRG'), 'g')
    assert.equal(word('contains', 'ÄRGER'), 'g')
    assert.equal(word('contains', '"'), 'h')
    assert.equal(word('contains', "'; --"), 'i')
    assert.equal(word('contains', '*?['), 'j')
    assert.equal(word('excludes', 'a'), 'abefghij')
    assert.equal(word('begins', 'a'), 'cd')
    assert.equal(word('anyOf', ["it's", '"x"']), 'ah')
    assert.equal(word('anyOf', ['', null]), 'ef')
    assert.equal(word('anyOf', [null]), 'f')
    assert.equal(word('noneOf', ["it's", '50%']), 'cdefghij')
    assert.equal(word('noneOf', ["it's", null]), 'bcdeghij')
    assert.equal(word('noneOf', [null]), 'abcdeghij')
    assert.equal(word('empty', null), 'f')
    assert.equal(word('filled', null), 'abcdeghij')
  })

  test('letters that have no single small form are looked for as they are', () => {
    fill('word', ['İstanbul', 'straße', 'STRASSE', 'Σίσυφος', '😀x', 'ǅ'])
    const word = on('word')
    assert.equal(word('contains', 'İ'), 'a')
    assert.equal(word('contains', 'ß'), 'b')
    assert.equal(word('contains', 'σίσ'), 'd')
    assert.equal(word('contains', '😀X'), 'e')
    assert.equal(word('begins', 'STRAß'), 'b')
  })

  test('numbers of any size', () => {
    fill('n', [-1.5, 0, 3, 1e21, -1e300, null, 5e-324])
    const n = on('n')
    assert.equal(n('equals', 3), 'c')
    assert.equal(n('equals', 1e21), 'd')
    assert.equal(n('equals', -1.5), 'a')
    assert.equal(n('differs', 3), 'abdefg')
    assert.equal(n('below', 0), 'ae')
    assert.equal(n('atMost', 0), 'abe')
    assert.equal(n('above', 0), 'cdg')
    assert.equal(n('atLeast', 3), 'cd')
    assert.equal(n('between', [-2, 3]), 'abcg')
    assert.equal(n('within', [-1.5, 3]), 'abg')
    assert.equal(n('equals', 5e-324), 'g')
    assert.equal(n('anyOf', [0, 3]), 'bc')
  })

  test('truth values', () => {
    fill('done', [1, 0, null])
    const done = on('done')
    assert.equal(done('equals', true), 'a')
    assert.equal(done('equals', false), 'b')
    assert.equal(done('differs', true), 'bc')
    assert.equal(done('anyOf', [true, null]), 'ac')
  })

  test('moments, whatever their offsets', () => {
    fill('at', [
      '2026-01-01T00:30:00+01:00',
      '2026-01-01T00:00:00Z',
      '2026-01-01T00:00:00.001Z',
      '2026-01-01T02:00:00+01:00',
      null,
    ])
    const at = on('at')
    assert.equal(at('before', '2026-01-01T00:00:00Z'), 'a')
    assert.equal(at('since', '2026-01-01T00:00:00Z'), 'bcd')
    assert.equal(at('during', ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.001Z']), 'b')
    assert.equal(at('during', ['2026-01-01T00:00:00Z', '2026-01-01T02:00:00+01:00']), 'bc')
  })

  test('items of lists, each as the type that it has', () => {
    const lists = [['a', "it's"], [1, 'true'], [true, 2.5], ['1', null], [], [['a'], { a: 'a' }]]
    for (const field of ['tags', 'value', 'type']) {
      fill(field, [...lists.map((list) => JSON.stringify(list)), null])
      const has = on(field)
      assert.equal(has('hasAny', ['a']), 'a', field)
      assert.equal(has('hasAny', ["it's", 1]), 'ab')
      assert.equal(has('hasAny', ['1']), 'd')
      assert.equal(has('hasAny', [true]), 'c')
      assert.equal(has('hasAny', ['true']), 'b')
      assert.equal(has('hasAny', [2.5, null]), 'cd')
      assert.equal(has('hasAll', ['a', "it's"]), 'a')
      assert.equal(has('hasAll', ['a', 1]), '')
      assert.equal(has('lacks', ['a']), 'bcdefg')
    }
  })

  test('fields of any name', () => {
    for (const field of ['order', 'a"b', "o'clock"]) {
      fill(field, ['x', 'y', null])
      const odd = on(field)
      assert.equal(odd('equals', 'x'), 'a')
      assert.equal(odd('contains', 'Y'), 'b')
      assert.equal(odd('anyOf', ['x', null]), 'ac')
      assert.equal(odd('empty', null), 'c')
    }
  })

  test('conditions are joined so that each keeps its meaning', () => {
    fill('word', ['x', 'y', null])
    const all: Condition[] = [
      { field: 'word', is: 'noneOf', value: ['x'] },
      { field: 'word', is: 'between', value: ['a', 'z'] },
      { field: 'word', is: 'lacks', value: ['x'] },
      { field: 'word', is: 'anyOf', value: ['y', null] },
    ]
    const lists = all.filter(({ is }) => is !== 'lacks')
    assert.equal(matching(...lists), 'b')
    assert.equal(matching(...lists.toReversed()), 'b')
    assert.equal(conditionsToFilter([]), null)
  })
})
