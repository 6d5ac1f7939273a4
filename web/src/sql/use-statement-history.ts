import { Stored, useStored } from '../state/stored.ts'
import { parseHistory, withoutStatement, withStatement, type PastStatement } from './statement-history.ts'

const bySheet = new Map<string, Stored<readonly PastStatement[]>>()

export interface StatementHistory {
  readonly statements: readonly PastStatement[]
  add(statement: PastStatement): void
  remove(sql: string): void
  clear(): void
}

/** The statements that were run on a sheet, remembered by its name. */
export function useStatementHistory(sheet: string): StatementHistory {
  let stored = bySheet.get(sheet)
  if (stored === undefined) {
    stored = new Stored(`sql.${sheet}`, parseHistory)
    bySheet.set(sheet, stored)
  }
  const history = stored
  const [statements, set] = useStored(history)
  // Not from what was drawn last: another may have been added since.
  return {
    statements,
    add: (statement) => set(withStatement(history.value, statement)),
    remove: (sql) => set(withoutStatement(history.value, sql)),
    clear: () => set([]),
  }
}
