import { compareContracts, type ContractChange } from '../../../contract/rules/compare-contracts.ts'
import type { Contract } from '../../../contract/contract.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import type { TargetDefinition } from '../../sheet-store.ts'
import {
  firstVersions,
  isSameTarget,
  keepsStates,
  nextVersions,
  STORED_TARGETS,
  StoredTargets,
  type StoredTarget,
} from '../../rows/stored-targets.ts'
import {
  contractConflicts,
  refuseConflicts,
  type RecordsToCheck,
} from '../../definition/contract-conflicts.ts'
import { inOrder, planEffect } from '../../definition/field-effects.ts'
import { hasOtherName } from '../../definition/follow-names.ts'
import { NO_CHANGES, type FieldChanges, type FieldsEffect } from '../../field-changes.ts'
import { columnBefore, columnMoves } from '../../fields/column-moves.ts'
import {
  changesNothing,
  planFields,
  storedChange,
  withPlan,
  type FieldPlan,
} from '../../fields/field-plan.ts'
import { FIELD_CHANGES, loggedChange, type StoredFieldChange } from '../../fields/stored-changes.ts'
import { runSync } from '../../rules/steps.ts'
import { BlockedCells } from '../changes/blocked-cells.ts'
import type { ChangeSet } from '../changes/change-set.ts'
import type { Connection } from '../database/connection.ts'
import { columnDefinition, fieldIndexes, quoted, recordsView, type FieldIndex } from '../database/schema.ts'
import { fromColumn } from '../database/values.ts'
import { changeFields, fillColumns } from './change-fields.ts'
import { MISSING, STALE } from '../../rows/stored-rows.ts'

/** A definition that the store is to follow, without its contract. */
export interface DefinitionRequest {
  /** Null leaves the derived fields as they are. */
  readonly targets: readonly TargetDefinition[] | null
  readonly changes?: FieldChanges | undefined
  /** Whether only the effect on fields is returned. */
  readonly dryRun?: boolean
}

/**
 * Adapts the tables to a contract and its derived fields (D9), and logs changes of fields. Throws ContractError where stored
 * records would lose other values or violate the contract; a dry run returns that.
 */
export function applyDefinition(
  set: ChangeSet,
  contract: Contract,
  { targets, changes, dryRun = false }: DefinitionRequest,
): FieldsEffect {
  const { db, cells, nextSeq: seq } = set
  const derived = new Set((targets ?? cells.targets).map(({ field }) => field))
  const { effect, change } = applyContract(db, { contract, derived, changes, seq, dryRun })
  if (dryRun) return effect
  if (targets !== null) applyTargets(db, targets)
  if (change !== null) set.logFields(loggedChange(change, changes ?? NO_CHANGES, effect.fields))
  return effect
}

/** A contract that the tables are to follow. */
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

/** The effect of a contract, and the change of fields that is to be logged; null for none. */
export interface AppliedContract {
  readonly effect: FieldsEffect
  readonly change: StoredFieldChange | null
}

/**
 * Adapts the tables to a contract (D9): new optional properties get a column, loosened constraints need nothing, and fields
 * are renamed, removed, converted and restored as requested. Throws ContractError where stored records would lose other
 * values or violate the contract. Call it in a transaction.
 */
export function applyContract(db: Connection, request: ContractToApply): AppliedContract {
  const { contract, derived, changes = NO_CHANGES, seq, dryRun = false } = request
  const stored = String(db.get('SELECT contract FROM "$sheet"')?.['contract'])
  if (stored === contract.text) return UNCHANGED
  const before = parseStoredContract(stored)
  const plan = planFields({ before, after: contract, changes, seq }, db.query(FIELD_CHANGES))
  const change = compareContracts(withPlan(plan), contract)
  const records = recordsToCheck(db)
  const planned = runSync(planEffect(records, plan, { derived }))
  const column = columnBefore(plan)
  const conflicts = [
    ...planned.conflicts,
    ...runSync(contractConflicts(records, { change, derived, column })),
  ]
  const isPlanned = !changesNothing(plan)
  const effect = {
    seq: isPlanned ? seq : null,
    fields: inOrder(contract, planned.fields, change.added),
    conflicts,
  }
  if (dryRun) return { effect, change: null }
  refuseConflicts(conflicts)
  changeTable(db, { plan, change, derived })
  db.run('UPDATE "$sheet" SET contract = ?', contract.text)
  // Values that the contract refused may be allowed now.
  db.run(`UPDATE "$failure" SET hash = NULL WHERE error_type = 'ValidationError'`)
  if (!isPlanned) return { effect, change: null }
  changeFields(db, plan)
  return { effect, change: storedChange(plan) }
}

const UNCHANGED: AppliedContract = { effect: { seq: null, fields: [], conflicts: [] }, change: null }

/** Adapts the columns, the indexes and the view of the records. */
function changeTable(
  db: Connection,
  {
    plan,
    change,
    derived,
  }: Pick<ContractToApply, 'derived'> & { readonly plan: FieldPlan; readonly change: ContractChange },
): void {
  const { before, after } = plan
  db.exec('DROP VIEW records')
  const gone = [...change.removed, ...change.retyped.map((pair) => pair.before)]
  const moved = [...plan.renamed, ...plan.converted, ...plan.removed].map((field) => field.before)
  const touched = new Set([...gone, ...moved].map(({ name }) => name))
  const isKept = ({ name, field }: FieldIndex, others: readonly FieldIndex[]): boolean =>
    others.some((other) => other.name === name) && !touched.has(field)
  const [indexes, wanted] = [fieldIndexes(before), fieldIndexes(after)]
  for (const index of indexes)
    if (!isKept(index, wanted)) db.exec(`DROP INDEX IF EXISTS ${quoted(index.name)}`)
  for (const { name } of gone) db.exec(`ALTER TABLE "$data" DROP COLUMN ${quoted(name)}`)
  for (const { from, to } of columnMoves(plan)) {
    db.exec(`ALTER TABLE "$data" RENAME COLUMN ${quoted(from)} TO ${quoted(to)}`)
  }
  const added = [
    ...change.added,
    ...change.retyped.map((pair) => pair.after),
    ...plan.converted.map((field) => field.after),
  ]
  for (const field of added) db.exec(`ALTER TABLE "$data" ADD COLUMN ${columnDefinition(field)}`)
  fillColumns(db, plan, derived)
  for (const index of wanted) if (!isKept(index, indexes)) db.exec(index.sql)
  db.exec(recordsView(after))
}

function recordsToCheck(db: Connection): RecordsToCheck {
  return {
    query: db.query.bind(db),
    values: (field, after, limit) =>
      db
        .all(
          `SELECT "$seq" AS key, id, ${quoted(field.name)} AS value FROM "$data" WHERE "$seq" > ? ORDER BY "$seq" LIMIT ?`,
          after,
          limit,
        )
        .map((row) => ({
          key: Number(row['key']),
          id: String(row['id']),
          value: fromColumn(field, row['value']),
        })),
    sharedValues: ({ name }) => {
      const column = quoted(name)
      const row = db.get(
        `SELECT sum("$n") AS shared FROM (
           SELECT count(*) AS "$n" FROM "$data" WHERE ${column} IS NOT NULL GROUP BY ${column} HAVING count(*) > 1)`,
      )
      return Number(row?.['shared'] ?? 0)
    },
  }
}

/** Reads the derived fields of the store. */
export function loadTargets(db: Connection): readonly StoredTarget[] {
  return db.query(STORED_TARGETS)
}

/**
 * Adapts the cell states to the derivations. The cells of a new target are missing, or overridden where the field has a
 * value; a changed file makes computed cells stale. A target whose derivation is removed keeps its states, which
 * follow writes meanwhile, and hold if the same file returns. Stores every version of the files. Call it in a transaction.
 */
export function applyTargets(db: Connection, definitions: readonly TargetDefinition[]): void {
  const known = new Map(loadTargets(db).map((target) => [target.field, target]))
  const at = new Date().toISOString()
  const changed: string[] = []
  for (const definition of definitions) {
    keepVersion(db, definition, at)
    const target = known.get(definition.field)
    known.delete(definition.field)
    if (target === undefined) addTarget(db, definition)
    else if (isSameTarget(target, definition)) continue
    else updateTarget(db, target, definition)
    changed.push(definition.field)
  }
  for (const target of known.values()) {
    if (!target.active) continue
    db.run('UPDATE "$target" SET active = 0 WHERE id = ?', target.id)
    changed.push(target.field)
  }
  if (changed.length > 0) new BlockedCells(db, new StoredTargets(loadTargets(db))).recountFrom(changed)
}

/** Stores the text of a derivation file, so that changes can be explained; does nothing when it is known. */
function keepVersion(db: Connection, { derivation, sha256, text }: TargetDefinition, at: string): void {
  db.run(
    'INSERT OR IGNORE INTO "$derivation" (file, sha256, text, at) VALUES (?, ?, ?, ?)',
    derivation,
    sha256,
    text,
    at,
  )
}

function addTarget(db: Connection, definition: TargetDefinition): void {
  const { field, derivation, sha256, kind, inputs, required, nonEmpty } = definition
  const { sources, checked, reads } = firstVersions(definition)
  const row = db.get(
    `INSERT INTO "$target" (field, derivation, sha256, kind, inputs, required, non_empty, sources, checked_sources, reads, active, changed)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1,
       (SELECT coalesce(max(seq), 0) FROM "$field_change")) RETURNING id`,
    field,
    derivation,
    sha256,
    kind,
    JSON.stringify(inputs),
    JSON.stringify(required),
    JSON.stringify(nonEmpty),
    sources,
    checked,
    reads,
  )
  const id = Number(row?.['id'])
  const column = quoted(field)
  const overridden = db.run(
    `INSERT INTO "$cell" (target, record, hash, mark) SELECT ?, "$seq", NULL, "$version" FROM "$data" WHERE ${column} IS NOT NULL`,
    id,
  )
  const missing = db.run(
    `INSERT INTO "$todo" (target, record, state, mark) SELECT ?, "$seq", ${MISSING}, "$version" FROM "$data" WHERE ${column} IS NULL`,
    id,
  )
  db.run('UPDATE "$target" SET overridden = ?, missing = ? WHERE id = ?', overridden, missing, id)
}

function updateTarget(db: Connection, target: StoredTarget, definition: TargetDefinition): void {
  const { derivation, sha256, kind, inputs, required, nonEmpty } = definition
  const { reads, sources } = nextVersions(definition)
  db.run(
    `UPDATE "$target" SET derivation = ?, sha256 = ?, kind = ?, inputs = ?, required = ?, non_empty = ?, sources = ?, reads = ?, active = 1
     WHERE id = ?`,
    derivation,
    sha256,
    kind,
    JSON.stringify(inputs),
    JSON.stringify(required),
    JSON.stringify(nonEmpty),
    sources,
    reads,
    target.id,
  )
  if (keepsStates(target, definition)) return
  if (hasOtherName(target)) {
    db.run(`UPDATE "$cell" SET hash = zeroblob(32) WHERE target = ? AND hash IS NOT NULL`, target.id)
    db.run('UPDATE "$failure" SET hash = NULL WHERE target = ?', target.id)
  }
  // Version 0 keeps that of the cell: a computation under way used the old file, but no write happened (D28).
  const stale = db.run(
    `INSERT INTO "$todo" (target, record, state, mark) SELECT target, record, ${STALE}, 0 FROM "$cell" AS cell
     WHERE target = ? AND hash IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM "$todo" AS todo WHERE todo.target = cell.target AND todo.record = cell.record)`,
    target.id,
  )
  db.run('UPDATE "$target" SET stale = stale + ?, checked_sources = sources WHERE id = ?', stale, target.id)
}
