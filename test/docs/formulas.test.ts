import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FormulaField } from '../../src/store/formula.ts'
import { formulaDialect } from '../../src/sheet/definition/formula-dialect.ts'
import { FormulaTable } from '../../src/store/sqlite/sql/formula-table.ts'
import { code, codeBlocks, readPage, section, tableOf } from '../support/markdown.ts'
import { followGuide } from '../support/terminal-guide.ts'
import { noTerminal } from '../support/terminal.ts'

const guide = codeBlocks(readPage('docs/guides/formulas.md'))
const page = readPage('docs/reference/formulas.md')

const FIELDS: readonly FormulaField[] = [
  { name: 'name', type: 'string' },
  { name: 'first', type: 'string' },
  { name: 'last', type: 'string' },
  { name: 'population', type: 'integer' },
  { name: 'area', type: 'number' },
  { name: 'tags', type: 'array' },
  { name: 'address', type: 'object' },
  { name: 'born', type: 'date' },
]

test('the formulas of the reference can be used on the engine that it names', async () => {
  const { rows } = tableOf(section(page, 'Examples'), 'Result')
  assert.ok(rows.length > 5)
  const readers = await Promise.all([formulaDialect('sqlite'), formulaDialect('postgres')])
  for (const [, ...formulas] of rows) {
    for (const [index, { name, read }] of readers.entries()) {
      assert.doesNotThrow(() => read(code(formulas[index]) ?? '', FIELDS), `${name}: ${formulas[index]}`)
    }
  }
})

test('the reference says what a formula is refused for', async () => {
  const { rows } = tableOf(section(page, 'What a formula cannot do'), 'Refused')
  for (const name of ['sqlite', 'postgres'] as const) {
    const { read } = await formulaDialect(name)
    for (const [, example] of rows)
      assert.throws(() => read(code(example) ?? '', FIELDS), `${name}: ${example}`)
  }
})

test('whole numbers divide as the reference says', () => {
  const inputs = [{ name: 'a', type: 'integer' }] as const
  for (const [expression, value] of [
    ['a / 2', 3],
    ['a / 2.0', 3.5],
    ['a / 0', null],
  ] as const) {
    assert.ok(page.includes(expression.replace('a', '7')), expression)
    const table = new FormulaTable({ expression, inputs, type: 'number' })
    assert.equal(table.compute([7]), value)
    table.close()
  }
})

test(
  'the guide to formulas has the output of its commands, step by step',
  { skip: noTerminal },
  async (t) => {
    assert.equal(await followGuide(t, guide), 8)
  },
)
