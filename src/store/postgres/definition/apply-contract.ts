import { isDeepStrictEqual } from 'node:util'
import { compareContracts } from '../../../contract/rules/compare-contracts.ts'
import type { Contract } from '../../../contract/contract.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { checkContractChange, type RecordsToCheck } from '../../rules/contract-conflicts.ts'
import { runAsync } from '../../rules/steps.ts'
import type { Connection } from '../database/connection.ts'
import { checkColumns, columnDefinition, quoted, recordsView } from '../database/schema.ts'
import { fieldValue } from '../database/values.ts'

/** Changes that adapt the tables to a contract. */
export interface TableChanges {
  /** Fields without a column so far. */
  readonly newColumns: ReadonlySet<string>
  /** Statements that lock the table of records exclusively. */
  readonly statements: readonly string[]
}

/**
 * Applies a contract to the store (D9), except for its tables: returns the statements that must change these in the same
 * transaction, or null where nothing changes. New optional properties get a column, loosened constraints need nothing, and
 * indexes follow later (`follow-indexes.ts`). Throws ContractError where stored records would lose values or violate the
 * contract. `derived` names the fields that derivations compute.
 */
export async function applyContract(
  db: Connection,
  contract: Contract,
  derived: ReadonlySet<string>,
): Promise<TableChanges | null> {
  const stored = String((await db.get('SELECT contract FROM "$sheet"'))?.['contract'])
  if (stored === contract.text) return null
  checkColumns(contract)
  const before = parseStoredContract(stored)
  const change = compareContracts(before, contract)
  await runAsync(checkContractChange(recordsToCheck(db), change, derived))
  await db.run('UPDATE "$sheet" SET contract = $1', contract.text)
  // Values that the contract refused may be allowed now.
  await db.run(`UPDATE "$failure" SET hash = NULL WHERE error_type = 'ValidationError'`)
  const gone = [...change.removed, ...change.retyped.map((field) => field.before)]
  const added = [...change.added, ...change.retyped.map(({ after }) => after)]
  const columns = [
    ...gone.map(({ name }) => `ALTER TABLE "$data" DROP COLUMN ${quoted(name)}`),
    ...added.map((field) => `ALTER TABLE "$data" ADD COLUMN ${columnDefinition(field)}`),
  ]
  const sameView = columns.length === 0 && isDeepStrictEqual(namesOf(before), namesOf(contract))
  return {
    newColumns: new Set(namesOf({ fields: added })),
    statements: sameView ? [] : ['DROP VIEW records', ...columns, recordsView(contract)],
  }
}

function namesOf({ fields }: Pick<Contract, 'fields'>): string[] {
  return fields.map(({ name }) => name)
}

function recordsToCheck(db: Connection): RecordsToCheck {
  return {
    query: db.query.bind(db),
    values: async (field, after, limit) => {
      const columns = ['"$seq"', 'id', '"$written"', quoted(field.name)]
      const sql = `SELECT ${[...new Set(columns)].join(', ')} FROM "$data" WHERE "$seq" > $1 ORDER BY "$seq" LIMIT $2`
      const rows = await db.all(sql, after, limit)
      return rows.map((row) => ({
        key: Number(row['$seq']),
        id: String(row['id']),
        value: fieldValue(field, row),
      }))
    },
    // Values are equal when their JSON text is.
    sharedValues: async ({ name }) => {
      const [column, written] = [quoted(name), `coalesce("$written" ->> '${name}', '')`]
      const row = await db.get(
        `SELECT sum(n) AS shared FROM (
           SELECT count(*) AS n FROM "$data" WHERE ${column} IS NOT NULL GROUP BY ${column}, ${written} HAVING count(*) > 1) AS groups`,
      )
      return Number(row?.['shared'] ?? 0)
    },
  }
}
