import { isDeepStrictEqual } from 'node:util'
import { compareContracts } from '../../../contract/rules/compare-contracts.ts'
import type { Contract, Field } from '../../../contract/contract.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import {
  contractConflicts,
  refuseConflicts,
  type RecordsToCheck,
} from '../../definition/contract-conflicts.ts'
import { inOrder, planEffect } from '../../definition/field-effects.ts'
import { NO_CHANGES, type FieldChanges, type FieldsEffect } from '../../field-changes.ts'
import { columnBefore, columnMoves } from '../../fields/column-moves.ts'
import {
  changesNothing,
  planFields,
  storedChange,
  withPlan,
  type FieldPlan,
} from '../../fields/field-plan.ts'
import { FIELD_CHANGES, type StoredFieldChange } from '../../fields/stored-changes.ts'
import { runAsync } from '../../rules/steps.ts'
import type { Connection } from '../database/connection.ts'
import {
  checkColumns,
  columnDefinitions,
  exactly,
  quoted,
  recordsView,
  renameColumns,
} from '../database/schema.ts'
import { columnsOf } from '../database/columns.ts'
import { fieldValue } from '../database/values.ts'
import { changeFields, filledMoves } from './change-fields.ts'
import { indexMoves } from './index-moves.ts'
import type { ColumnOf } from './targets.ts'

/** A contract that the store is to follow. */
export interface ContractToApply {
  readonly contract: Contract
  /** The names of the fields that derivations compute. */
  readonly derived: ReadonlySet<string>
  readonly changes?: FieldChanges | undefined
  /** The seq of the next line of the log. */
  readonly seq: number
  /** Whether only the effect is returned, also where it is a conflict. */
  readonly dryRun?: boolean
}

/** The effect of a contract, and the changes that adapt the tables to it. */
export interface AppliedContract {
  readonly effect: FieldsEffect
  /** Whether anything changes. */
  readonly isNew: boolean
  /** Returns the column that a field has before {@link statements}; null for none. */
  readonly column: ColumnOf
  /** Statements that lock the table of records exclusively. */
  readonly statements: readonly string[]
  /** The change of fields that is to be logged; null for none. */
  readonly change: StoredFieldChange | null
}

/**
 * Applies a contract to the store (D9), except for its tables: returns the statements that must change these in the same
 * transaction. New optional properties get a column, loosened constraints need nothing, indexes follow later
 * (`follow-indexes.ts`), and fields are renamed, removed, converted and restored as requested. Throws ContractError where
 * stored records would lose other values or violate the contract.
 */
export async function applyContract(db: Connection, request: ContractToApply): Promise<AppliedContract> {
  const { contract, derived, changes = NO_CHANGES, seq, dryRun = false } = request
  const stored = String((await db.get('SELECT contract FROM "$sheet"'))?.['contract'])
  if (stored === contract.text) return UNCHANGED
  checkColumns(contract)
  const before = parseStoredContract(stored)
  const plan = planFields({ before, after: contract, changes, seq }, await db.query(FIELD_CHANGES))
  const change = compareContracts(withPlan(plan), contract)
  const records = recordsToCheck(db)
  const planned = await runAsync(planEffect(records, plan, { derived }))
  const conflicts = [
    ...planned.conflicts,
    ...(await runAsync(contractConflicts(records, { change, derived, column: columnBefore(plan) }))),
  ]
  const isPlanned = !changesNothing(plan)
  const fields = inOrder(contract, planned.fields, change.added)
  const effect = { seq: isPlanned ? seq : null, fields, conflicts }
  if (dryRun) return { ...UNCHANGED, effect }
  refuseConflicts(conflicts)
  await db.run('UPDATE "$sheet" SET contract = $1', contract.text)
  // Values that the contract refused may be allowed now.
  await db.run(`UPDATE "$failure" SET hash = NULL WHERE error_type = 'ValidationError'`)
  const gone = [...change.removed, ...change.retyped.map((field) => field.before)]
  const added = [...change.added, ...change.retyped.map(({ after }) => after)]
  const column = columnOf(plan, added)
  if (isPlanned) await changeFields(db, plan, { derived, column })
  const columns = [
    ...indexMoves(plan),
    ...columnsOf(gone).map((name) => `ALTER TABLE "$data" DROP COLUMN ${quoted(name)}`),
    ...[...columnMoves(plan), ...filledMoves(plan)].flatMap(renameColumns),
    ...added.flatMap(columnDefinitions).map((definition) => `ALTER TABLE "$data" ADD COLUMN ${definition}`),
  ]
  const sameView = columns.length === 0 && isDeepStrictEqual(namesOf(before), namesOf(contract))
  return {
    effect,
    isNew: true,
    column,
    statements: sameView ? [] : ['DROP VIEW records', ...columns, recordsView(contract)],
    change: isPlanned ? storedChange(plan) : null,
  }
}

const UNCHANGED: AppliedContract = {
  effect: { seq: null, fields: [], conflicts: [] },
  isNew: false,
  column: (field) => field,
  statements: [],
  change: null,
}

/** Returns the columns of fields before the statements of a plan. */
function columnOf(plan: FieldPlan, added: readonly Field[]): ColumnOf {
  const column = columnBefore(plan)
  const filled = new Map(filledMoves(plan).map(({ from, to }) => [to, from]))
  const names = new Set(added.map(({ name }) => name))
  return (field) => (names.has(field) ? null : (filled.get(field) ?? column(field)))
}

function namesOf({ fields }: Pick<Contract, 'fields'>): string[] {
  return fields.map(({ name }) => name)
}

function recordsToCheck(db: Connection): RecordsToCheck {
  return {
    query: db.query.bind(db),
    values: async (field, after, limit) => {
      const columns = new Set(['$seq', 'id', ...columnsOf([field])])
      const sql = `SELECT ${[...columns].map(quoted).join(', ')} FROM "$data" WHERE "$seq" > $1 ORDER BY "$seq" LIMIT $2`
      const rows = await db.all(sql, after, limit)
      return rows.map((row) => ({
        key: Number(row['$seq']),
        id: String(row['id']),
        value: fieldValue(field, row),
      }))
    },
    // Values are equal when their JSON text is.
    sharedValues: async (field) => {
      const column = quoted(field.name)
      const row = await db.get(
        `SELECT sum(n) AS shared FROM (
           SELECT count(*) AS n FROM "$data" WHERE ${column} IS NOT NULL GROUP BY ${exactly(field)} HAVING count(*) > 1) AS groups`,
      )
      return Number(row?.['shared'] ?? 0)
    },
  }
}
