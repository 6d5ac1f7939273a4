import type { FormulaDialect } from '../../store/formula.ts'
import type { Dialect } from '../../store/sheet-store.ts'

/** Returns how formulas of a dialect are read. It is loaded on demand: most commands and sheets need one of the two. */
export async function formulaDialect(name: Dialect): Promise<FormulaDialect> {
  if (name === 'sqlite') {
    const { readFormula } = await import('../../store/sqlite/sql/formula-table.ts')
    return { name, read: readFormula }
  }
  const { loadFormulaReader } = await import('../../store/postgres/formula/read-formula.ts')
  return { name, read: await loadFormulaReader() }
}
