import { editText, type TextEdit } from '../../../contract/yaml/edit/yaml-edit.ts'
import { QueryError } from '../../../errors/service-error.ts'
import type { FormulaField, FormulaRenamer } from '../../formula.ts'
import { FormulaTable, readFormula } from '../sql/formula-table.ts'
import { sqlTokens } from '../sql/sql-lexer.ts'

/** Finds a field in a formula for SQLite, which renames a column in the formulas of its table; see {@link FormulaRenamer}. */
export const renameInFormula: FormulaRenamer = (expression, fields, { from, to }) => {
  const names = readFormula(expression, fields)
  if (!names.includes(from)) return []
  const renamed = fields.map((field) => (field.name === from ? { ...field, name: to } : field))
  // A keyword needs quotes; some, such as current_date, would be another formula without.
  for (const written of [to, `"${to}"`]) {
    const edits = editsOf(expression, fields, { from, written })
    if (edits !== null && reads(editText(expression, edits), renamed, to)) return edits
  }
  throw new QueryError('the formula cannot be edited')
}

function editsOf(
  expression: string,
  fields: readonly FormulaField[],
  { from, written }: { readonly from: string; readonly written: string },
): readonly TextEdit[] | null {
  const table = new FormulaTable({ expression, inputs: fields, type: 'string' })
  try {
    const { before, after } = table.rename(from, written)
    const start = before.lastIndexOf(`(${expression}\n)`) + 1
    const [old, renamed] = [sqlTokens(before), sqlTokens(after)]
    if (start === 0 || old.length !== renamed.length) return null
    return old.flatMap((token, index): TextEdit[] => {
      const text = renamed[index]?.text ?? token.text
      const at = token.start - start
      return at < 0 || text === token.text ? [] : [{ start: at, end: at + token.text.length, text }]
    })
  } catch (error) {
    if (error instanceof QueryError) return null
    throw error
  } finally {
    table.close()
  }
}

function reads(expression: string, fields: readonly FormulaField[], name: string): boolean {
  try {
    return readFormula(expression, fields).includes(name)
  } catch (error) {
    if (error instanceof QueryError) return false
    throw error
  }
}
