import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { QueryError } from '../../src/errors/service-error.ts'
import { formulaDialect } from '../../src/sheet/definition/formula-dialect.ts'
import { runQuery } from '../../src/sheet/queries/run-query.ts'
import type { FormulaField } from '../../src/store/formula.ts'
import { ALLOWED_FUNCTIONS as OF_POSTGRES } from '../../src/store/postgres/sql/sql-functions.ts'
import { ALLOWED_FUNCTIONS as OF_SQLITE } from '../../src/store/sqlite/sql/sql-functions.ts'
import { contractText } from '../support/contract-with.ts'
import { FilterGrammar } from '../support/filter-grammar.ts'
import { FilterText } from '../support/filter-text.ts'
import { fuzzRun } from '../support/fuzz.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'

const FIELDS: readonly FormulaField[] = [
  { name: 'id', type: 'string' },
  { name: 'n', type: 'integer' },
  { name: 'price', type: 'number' },
  { name: 'title', type: 'string' },
  { name: 'day', type: 'date' },
  { name: 'tags', type: 'array' },
  { name: 'done', type: 'boolean' },
]

const WORDS = [
  ...FIELDS.map(({ name }) => name),
  ...'( ) ( ) , + - * / || -> ->> :: < = . [ ] % ; -- /* */ ? :x @y $1 # \\ CASE WHEN THEN ELSE END AND OR NOT IS NULL IN LIKE'.split(' '),
  ...'SELECT FROM WITH VALUES AS CAST COLLATE OVER FILTER WHERE EXISTS RAISE CHECK STORED REFERENCES DEFAULT ROW ARRAY'.split(' '),
  "'a'", "'now'", '"n"', '[n]', '`n`', '"$value"', '"$key"', '$record', "x'ff'", "E'\\x'", '$$x$$', '\0', '\ud800', '😀', '1', '2.5',
  ...OF_SQLITE,
  ...OF_POSTGRES,
] // prettier-ignore

const RECORDS: readonly JsonObject[] = [
  { id: 'a', n: 3, price: 1.5, title: 'ab', day: '2024-01-02', tags: ['a'], done: true },
  { id: 'b', n: 0, price: -2, title: '10', day: '2024-09-19', tags: [], done: false },
  { id: 'c', n: null, price: null, title: null, day: null, tags: null, done: null },
  { id: 'd', n: -3, price: 10, title: 'É', day: null, tags: [1, 'b'], done: null },
]

const { count, random, again } = fuzzRun({ test: 100, fuzz: 5000 })

suite('random formulas', { timeout: 10 * 60_000 }, () => {
  test(`${count} texts are read or refused, on both engines`, async () => {
    const readers = await Promise.all([formulaDialect('sqlite'), formulaDialect('postgres')])
    for (let number = 0; number < count; number += 1) {
      const words = Array.from({ length: 1 + random.below(9) }, () => random.pick(WORDS))
      const text = words.join(random.chance(0.7) ? ' ' : '')
      for (const { name, read } of readers) {
        try {
          read(text, FIELDS)
        } catch (error) {
          assert.ok(error instanceof QueryError, `${name}: ${text}: ${String(error)}\n${again}`)
          assert.doesNotMatch(error.message, /generated column|CREATE TABLE/, text)
        }
      }
    }
  })

  test(`${count} expressions have the values that a query has`, async (t) => {
    const properties = FIELDS.slice(1).map(({ name, type }) => `{name: ${name}, logicalType: ${type}}`)
    const contract = contractText(properties)
    const sheet = await openTestSheet(t, { contract, records: RECORDS, derivations: {} })
    const { store } = await sheet.current()
    const fields = {
      integers: ['n'],
      reals: ['price'],
      texts: ['id', 'title', 'day', 'tags'],
      booleans: ['done'],
    }
    const grammar = new FilterGrammar(random, fields)
    const writer = new FilterText(random)
    const { read } = await formulaDialect('sqlite')
    const { signal } = new AbortController()
    for (let number = 0; number < count; number += 1) {
      // A formula names no table.
      const text = writer.write(grammar.condition(random.below(4)))
      const expression = text.replaceAll(/["[`]?\brecords\b["\]`]?\s*\.\s*/gi, '')
      const names = read(expression, FIELDS)
      const inputs = FIELDS.filter(({ name }) => names.includes(name))
      const rows = RECORDS.map((record) => inputs.map(({ name }) => record[name] ?? null))
      const computed = await store.formulas.computeFormula(
        { expression, inputs, type: 'integer' },
        rows,
        signal,
      )
      const sql = `SELECT (${expression}) AS value FROM records ORDER BY id`
      const queried = JSON.parse(String(await runQuery(sheet, { sql, params: [] }))) as { rows: JsonObject[] }
      assert.deepEqual(
        computed,
        queried.rows.map(({ value }) => ({ ok: true, value })),
        `${expression}\n${again}`,
      )
    }
  })
})
