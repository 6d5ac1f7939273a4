import { Stored, useStored } from '../state/stored.ts'
import { parseHistory, withoutStatement, withStatement, type PastStatement } from './statement-history.ts'

const bySheet = new Map<string, Stored<readonly PastStatement[]>>()

export interface StatementHistory {
  readonly statements: readonly PastStatement[]
  add(statement: PastStatement): void
  remove(sql: string): void
  clear(): void
}

/** Returns the stored history of a sheet's statements. */
export function useStatementHistory(sheet: string): StatementHistory {
  let stored = bySheet.get(sheet)
  if (stored === undefined) {
    stored = new Stored(`sql.${sheet}`, parseHistory)
    bySheet.set(sheet, stored)
  }
  const history = stored
  const [statements, set] = useStored(history)
  // Reads the stored value, because the rendered one may be outdated.
  return {
    statements,
    add: (statement) => set(withStatement(history.value, statement)),
    remove: (sql) => set(withoutStatement(history.value, sql)),
    clear: () => set([]),
  }
}
