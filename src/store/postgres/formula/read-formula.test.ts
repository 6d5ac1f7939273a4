import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { editText } from '../../../contract/yaml/edit/yaml-edit.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { FormulaField, FormulaReader } from '../../formula.ts'
import { ALLOWED_FUNCTIONS, ROW_FUNCTIONS, VOLATILE_FUNCTIONS } from '../sql/sql-functions.ts'
import { FormulaParser } from './read-formula.ts'

const FIELDS: readonly FormulaField[] = [
  { name: 'name', type: 'string' },
  { name: 'n', type: 'integer' },
  { name: 'tags', type: 'array' },
  { name: 'year', type: 'integer' },
  { name: 'date', type: 'date' },
  { name: 'upper', type: 'string' },
]

suite('formulas of PostgreSQL', () => {
  let parser: FormulaParser
  const read: FormulaReader = (expression, fields) => parser.names(expression, fields)

  before(async () => {
    parser = await FormulaParser.load()
  })

  for (const [expression, to, expected] of [
    ['upper(NAME) || name', 'title', 'upper(title) || title'],
    ["'ä' || \"name\" || 'name' -- name\n", 'title', "'ä' || title || 'name' -- name\n"],
    ['name', 'Title', '"Title"'],
    ['lower(name)', 'current_date', 'lower("current_date")'],
    ['n + 1', 'title', 'n + 1'],
    [
      "coalesce(name, upper)::date + interval '1 name'",
      'x1',
      "coalesce(x1, upper)::date + interval '1 name'",
    ],
  ] as const) {
    test(`${expression.trim()} with name as ${to}`, () => {
      const edits = parser.rename(expression, FIELDS, { from: 'name', to })
      assert.equal(editText(expression, edits), expected)
    })
  }

  for (const [expression, names] of [
    ['upper(NAME)', ['name']],
    ['n / nullif(n, 0) -- of name\n', ['n']],
    ['extract(year FROM date)', ['date']],
    ['CAST(name AS date)', ['name']],
    ["name::date + interval '1 day'", ['name']],
    ["coalesce(tags->>0, 'now')", ['tags']],
    ['CASE WHEN false THEN name ELSE "year"::text END', ['name', 'year']],
    ["greatest(n, trim(both 'x' from name)::int, cardinality(ARRAY[n]))", ['name', 'n']],
    ["CASE WHEN name < 'today' THEN 'now' ELSE upper::bigint::text END", ['name', 'upper']],
    ["name || ': now and then ' || date", ['name', 'date']],
    ["CAST('[1,2]' AS int4range) @> n::int", ['n']],
    ["'EUR'", []],
  ] as const) {
    test(`${expression.trim()} reads ${names.join(', ') || 'nothing'}`, () => {
      assert.deepEqual(read(expression, FIELDS), names)
    })
  }

  for (const [expression, message] of [
    ['nane', /^column "nane" does not exist$/],
    ['n +', /^syntax error at or near "\)"$/],
    ['n) , (n', /syntax error at or near "\)"$/],
    ['1) FROM records WHERE (true', /cannot be used|syntax error/],
    ['n; SELECT 1', /cannot have a semicolon$/],
    ['n -- all', /^a comment runs to the end/],
    ['n = ?', /^a formula cannot have placeholders: \?$/],
    ['records.n', /^write the name of a field alone/],
    ['records.*', /^write the name of a field alone/],
    ['(SELECT 1)', /cannot have a SELECT$/],
    ['EXISTS (SELECT 1)', /cannot have a SELECT$/],
    ['sum(n)', /cannot use functions over several records/],
    ['count(*)', /cannot use functions over several records/],
    ['lower(name) OVER ()', /cannot use functions over several records/],
    ['generate_series(1, 10)', /cannot use functions over several records/],
    ['pg_catalog.random()', /^random\(\) cannot be used in a formula/],
    ['now()', /^now\(\) cannot be used in a formula/],
    ['current_date - date', /^current_date cannot be used in a formula/],
    ["date 'today' - date", /^'today' cannot be used in a formula/],
    ["'now'::text::timestamp", /^'now' cannot be used in a formula/],
    ["date < 'today'", /^'today' cannot be used in a formula/],
    ["coalesce(date, ' Now')", /^' Now' cannot be used in a formula/],
    ["'12:00today'::timestamptz", /^'12:00today' cannot be used in a formula/],
    ["',tomorrow Europe/Berlin'::timestamptz", /^',tomorrow Europe\/Berlin' cannot be used in a formula/],
    ['\'{2024-01-01,"to\\day"}\'::date[]', /cannot be used in a formula/],
    ["'{yesterday}'::_date", /^'\{yesterday\}' cannot be used in a formula/],
    ["'[today,)'::daterange", /^'\[today,\)' cannot be used in a formula/],
    ["('today', 'tomorrow') OVERLAPS ('now', 'now')", /^'today' cannot be used in a formula/],
    ["json_value('[\"now\"]'::jsonb, '$[0]' RETURNING date)", /^'\["now"\]' cannot be used in a formula/],
    ['age(date)', /^age\(\) of one time cannot be used in a formula/],
    ['pg_sleep(1)', /^the function pg_sleep\(\) does not exist or cannot be used$/],
    ['current_user', /^the function current_user cannot be used/],
    ['$1', /cannot be used/],
    ["'" + 'x'.repeat(20_000) + "'", /^the formula is longer than 8 KiB$/],
    [`n ${'+1'.repeat(900)}`, /^the formula is nested too deeply$/],
    ['NOT '.repeat(800) + 'true', /^the formula is nested too deeply$/],
  ] as const) {
    test(`${expression.slice(0, 40)} is refused`, () => {
      assert.throws(() => read(expression, FIELDS), QueryError)
      assert.throws(() => read(expression, FIELDS), { message })
    })
  }

  test('functions that a formula cannot use are functions of queries', () => {
    for (const name of [...VOLATILE_FUNCTIONS, ...ROW_FUNCTIONS]) assert.ok(ALLOWED_FUNCTIONS.has(name), name)
  })
})
