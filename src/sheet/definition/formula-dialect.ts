import type { FormulaDialect } from '../../store/formula.ts'
import type { Dialect } from '../../store/sheet-store.ts'

/** Returns how formulas of a dialect are read. It is loaded on demand: most commands and sheets need one of the two. */
export async function formulaDialect(name: Dialect): Promise<FormulaDialect> {
  if (name === 'sqlite') {
    const { readFormula } = await import('../../store/sqlite/sql/formula-table.ts')
    const { renameInFormula } = await import('../../store/sqlite/formula/rename-in-formula.ts')
    const { readQuery } = await import('../../store/sqlite/sql/query-table.ts')
    const { renameInQuery } = await import('../../store/sqlite/formula/rename-in-query.ts')
    return { name, read: readFormula, readQuery, rename: renameInFormula, renameInQuery }
  }
  const { FormulaParser } = await import('../../store/postgres/formula/read-formula.ts')
  const { queryReader } = await import('../../store/postgres/formula/read-query.ts')
  const { queryRenamerOf } = await import('../../store/postgres/formula/rename-in-query.ts')
  const parser = await FormulaParser.load()
  return {
    name,
    read: (expression, fields) => parser.names(expression, fields),
    readQuery: queryReader(parser.parse),
    rename: (expression, fields, rename) => parser.rename(expression, fields, rename),
    renameInQuery: queryRenamerOf(parser.parse),
  }
}
