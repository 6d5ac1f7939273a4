import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { QueryError } from '../../../errors/service-error.ts'
import type { Formula, FormulaField } from '../../formula.ts'
import { FormulaTable, readFormula } from './formula-table.ts'

const FIELDS: readonly FormulaField[] = [
  { name: 'name', type: 'string' },
  { name: 'n', type: 'integer' },
  { name: 'area', type: 'number' },
  { name: 'tags', type: 'array' },
  { name: 'date', type: 'date' },
  { name: 'upper', type: 'string' },
]

suite('formulas of SQLite', () => {
  for (const [expression, names] of [
    ['upper(name)', ['name']],
    ['N / nullif(area, 0) -- of n\n', ['n', 'area']],
    ['CASE WHEN 0 THEN name ELSE n END', ['name', 'n']],
    ["'name' || tags->>0", ['tags']],
    ['date("date", \'+1 day\')', ['date']],
    ["'EUR'", []],
  ] as const) {
    test(`${expression.trim()} reads ${names.join(', ') || 'nothing'}`, () => {
      assert.deepEqual(readFormula(expression, FIELDS), names)
    })
  }

  for (const [expression, message] of [
    ['nane', /^no such column: nane$/],
    ['name || "x"', /^no such column: "x"/],
    ['n +', /^near "\)": syntax error$/],
    ['n) , (area', /^the formula is not one expression/],
    ['1) CHECK (2', /^the formula is not one expression/],
    ['n; SELECT 1', /cannot have a semicolon$/],
    ['n -- all', /^a comment runs to the end/],
    ['n = ?', /^a formula cannot have placeholders: \?$/],
    ['records.n', /^write the name of a field alone/],
    ['(SELECT 1)', /cannot have a SELECT$/],
    ['n IN json_each(tags)', /cannot have a SELECT$/],
    ['sum(n)', /cannot use functions over several records/],
    ['rank() OVER ()', /cannot use functions over several records/],
    ['random()', /^random\(\) cannot be used in a formula/],
    ['"random"()', /^random\(\) cannot be used in a formula/],
    ['current_timestamp', /^current_timestamp cannot be used in a formula/],
    ['date()', /^date\(\) without a date cannot be used in a formula/],
    ["strftime('%s')", /^strftime\(\) without a date cannot be used in a formula/],
    ["julianday('NOW') - julianday(date)", /^julianday\(\) with 'NOW' cannot be used in a formula/],
    ["load_extension('x')", /^the function load_extension\(\) cannot be used$/],
    ['sqlite_version()', /^the function sqlite_version\(\) cannot be used$/],
    ['"$value"', /^a name in the formula is reserved$/],
    ['"$key"', /^a name in the formula is reserved$/],
    ['rowid', /^no such column: rowid$/],
    [`n + '${'x'.repeat(20_000)}'`, /^the formula is longer than 8 KiB$/],
    [`n ${'+1'.repeat(3000)}`, /maximum depth|too deeply/i],
    [`${'('.repeat(4000)}1${')'.repeat(4000)}`, /maximum depth|too deeply/i],
  ] as const) {
    test(`${expression.slice(0, 40)} is refused`, () => {
      assert.throws(() => readFormula(expression, FIELDS), QueryError)
      assert.throws(() => readFormula(expression, FIELDS), { message })
    })
  }

  test('values have the types of the contract, going in and coming out', () => {
    const compute = (expression: string, type: Formula['type'], value: unknown): unknown => {
      const inputs = [{ name: 'v', type: FIELDS.find(({ name }) => name === value)?.type ?? typeOf(value) }]
      const table = new FormulaTable({ expression, inputs, type })
      const computed = table.compute([value as string])
      table.close()
      return computed
    }
    assert.equal(compute('v', 'boolean', true), true)
    assert.equal(compute('(v)', 'string', true), true)
    assert.deepEqual(compute('v', 'string', [1]), [1])
    assert.equal(compute('v > 2', 'boolean', 3), true)
    assert.equal(compute('v > 2', 'integer', 3), 1)
    assert.equal(compute('v / 2', 'integer', 7), 3)
    assert.equal(compute('v / 2', 'number', 7.0001), 3.50005)
    assert.equal(compute('v / 0', 'number', 7), null)
    assert.equal(compute('v * 9007199254740993', 'string', 1), '9007199254740993')
    assert.deepEqual(compute("json_insert(v, '$[#]', 3)", 'array', [1, 2]), [1, 2, 3])
    assert.deepEqual(compute("json_object('a', v)", 'object', 'é'), { a: 'é' })
    assert.equal(compute('v', 'array', 'no JSON'), 'no JSON')
    assert.equal(compute('unhex(v)', 'string', '00ff'), 'AP8=')
    assert.throws(() => compute('v * 10', 'number', 1.7e308), { message: 'the result is infinite' })
  })

  test('a date that would be the present time fails where it is computed', () => {
    const inputs = [{ name: 'v', type: 'string' }] as const
    const table = new FormulaTable({ expression: "date(v, '+1 day')", inputs, type: 'date' })
    assert.equal(table.compute(['2024-02-28']), '2024-02-29')
    assert.throws(() => table.compute(['now']), { message: /^date\(\) of this value cannot be used/ })
    assert.equal(table.compute([null]), null)
    table.close()
  })
})

function typeOf(value: unknown): FormulaField['type'] {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return 'string'
}
