import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { editText } from '../../src/contract/yaml/edit/yaml-edit.ts'
import { QueryError } from '../../src/errors/service-error.ts'
import { formulaDialect } from '../../src/sheet/definition/formula-dialect.ts'
import type { FormulaDialect, FormulaField } from '../../src/store/formula.ts'

const FIELDS: readonly FormulaField[] = [
  { name: 'city', type: 'string' },
  { name: 'year', type: 'integer' },
  { name: 'at', type: 'timestamp' },
  { name: 'tags', type: 'array' },
  { name: 'value', type: 'number' },
]

interface Case {
  readonly query: string
  readonly from?: string
  readonly to?: string
  /** The query with the new name; a pattern for the reason of a refusal. */
  readonly is: string | RegExp
  readonly only?: 'sqlite' | 'postgres'
}

const CASES: readonly Case[] = [
  {
    query: "SELECT count(*) FROM records WHERE city = :city AND CITY <> 'city' -- city",
    is: "SELECT count(*) FROM records WHERE town = :town AND town <> 'city' -- city",
  },
  {
    query: 'SELECT r."city" FROM records AS r WHERE r.value > ? ORDER BY r.city LIMIT 1',
    is: 'SELECT r.town FROM records AS r WHERE r.value > ? ORDER BY r.town LIMIT 1',
  },
  {
    query:
      'WITH hot AS (SELECT city, max(value) AS m FROM records GROUP BY city) SELECT max(m) FROM hot WHERE hot.city = :city',
    is: 'WITH hot AS (SELECT town, max(value) AS m FROM records GROUP BY town) SELECT max(m) FROM hot WHERE hot.town = :town',
  },
  {
    query:
      'SELECT value FROM (SELECT max(r.value) AS value FROM records JOIN records AS r USING (city)) AS q',
    from: 'value',
    to: 'price',
    is: 'SELECT price FROM (SELECT max(r.price) AS price FROM records JOIN records AS r USING (city)) AS q',
  },
  {
    query: 'SELECT count(*) AS year FROM records ORDER BY year',
    from: 'year',
    to: 'n',
    is: 'SELECT count(*) AS n FROM records ORDER BY n',
  },
  { query: 'SELECT max(value) FROM records', is: 'SELECT max(value) FROM records' },
  { query: 'SELECT max(city) FROM records', to: 'order', is: 'SELECT max("order") FROM records' },
  {
    query: 'SELECT max(city) FROM records',
    to: 'Order',
    is: 'SELECT max("Order") FROM records',
  },
  // Another column of the new name would take the place of the field.
  {
    query: 'SELECT (SELECT max(city) FROM (SELECT 1 AS town) AS t) FROM records LIMIT 1',
    is: /has the name town already/,
  },
  // Words that are no names of columns.
  {
    query: 'SELECT max(extract(year FROM at)) FROM records WHERE year > 1',
    from: 'year',
    is: /not always the name of a column/,
    only: 'postgres',
  },
  {
    query: 'SELECT max(CAST(year AS year)) FROM records',
    from: 'year',
    is: /is a type or a collation there/,
    only: 'sqlite',
  },
  {
    query: 'SELECT max(j.value) FROM records, json_each(tags) AS j WHERE city = :city',
    from: 'value',
    is: /column of json_each too/,
    only: 'sqlite',
  },
  {
    query: 'SELECT max((j.value)::text) FROM records, json_each(tags::json) AS j WHERE city = :city',
    from: 'value',
    is: /column of a function in FROM too/,
    only: 'postgres',
  },
  {
    query: 'SELECT max(x.city) FROM records, json_to_record(tags::json) AS x(city text) WHERE year = 1',
    is: /not always the name of a column/,
    only: 'postgres',
  },
  {
    query: 'SELECT max(to_json(r)::text) FROM records AS r WHERE city = :city',
    is: /whole rows as values/,
    only: 'postgres',
  },
]

for (const name of ['sqlite', 'postgres'] as const) {
  describe(`${name}: renaming a field in a query`, () => {
    let dialect: FormulaDialect
    before(async () => {
      dialect = await formulaDialect(name)
    })
    for (const { query, from = 'city', to = 'town', is, only = name } of CASES) {
      if (only !== name) continue
      test(`${query}: ${from} as ${to}`, () => {
        const listed = query.includes('?') ? ['value'] : []
        const edited = (): string =>
          editText(query, dialect.renameInQuery(query, { listed, fields: FIELDS }, { from, to }))
        if (typeof is === 'string') return assert.equal(edited(), is)
        assert.throws(edited, (error) => error instanceof QueryError && is.test(error.message))
      })
    }
  })
}
