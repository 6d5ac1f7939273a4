import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editText } from '../../../contract/yaml/edit/yaml-edit.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { FormulaField } from '../../formula.ts'
import { FormulaTable } from '../sql/formula-table.ts'
import { renameInFormula } from './rename-in-formula.ts'

const FIELDS: readonly FormulaField[] = [
  { name: 'name', type: 'string' },
  { name: 'n', type: 'integer' },
]

const CASES = [
  ['upper(NAME) || name', 'title', 'upper(title) || title'],
  ['"name" || \'name\' -- name\n|| [name]', 'title', '"title" || \'name\' -- name\n|| "title"'],
  ['name', 'order', '"order"'],
  ['lower(name)', 'current_date', 'lower("current_date")'],
  ['n + 1', 'title', 'n + 1'],
  [
    'CASE WHEN name COLLATE nocase = "n" THEN name END',
    'N2',
    'CASE WHEN N2 COLLATE nocase = "n" THEN N2 END',
  ],
] as const

for (const [expression, to, expected] of CASES) {
  test(`SQLite: ${JSON.stringify(expression)} with name as ${to}`, () => {
    assert.equal(editText(expression, renameInFormula(expression, FIELDS, { from: 'name', to })), expected)
  })
}

test('SQLite: text that is no formula is refused', () => {
  assert.throws(
    () => renameInFormula('name) ; DROP TABLE x; (', FIELDS, { from: 'name', to: 't' }),
    QueryError,
  )
})

test('SQLite: a new name that is SQL is refused before SQLite runs it', (t) => {
  const table = new FormulaTable({ expression: 'name', inputs: FIELDS, type: 'string' })
  t.after(() => {
    table.close()
  })
  for (const to of ['t; ALTER TABLE "$record" RENAME COLUMN t TO u', '"t" -- ', '"t', 't t', '']) {
    assert.throws(() => table.rename('name', to), /not that of a field/)
  }
  assert.match(table.rename('name', '"t"').after, /"t" TEXT/)
})
