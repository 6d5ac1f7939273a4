import { compareContracts } from '../../../contract/rules/compare-contracts.ts'
import type { Contract } from '../../../contract/contract.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import type { TargetDefinition } from '../../sheet-store.ts'
import {
  firstVersions,
  isSameTarget,
  nextVersions,
  STORED_TARGETS,
  StoredTargets,
  targetVersion,
  type StoredTarget,
} from '../../rows/stored-targets.ts'
import { checkContractChange, type RecordsToCheck } from '../../rules/contract-conflicts.ts'
import { runSync } from '../../rules/steps.ts'
import { BlockedCells } from '../changes/blocked-cells.ts'
import type { Connection } from '../database/connection.ts'
import { columnDefinition, fieldIndexes, quoted, recordsView, type FieldIndex } from '../database/schema.ts'
import { fromColumn } from '../database/values.ts'
import { MISSING, STALE } from '../../rows/stored-rows.ts'

/**
 * Adapts the tables to a contract (D9): new optional properties get a column, loosened constraints need nothing. Throws
 * ContractError where stored records would lose values or violate the contract. `derived` names the fields that derivations
 * compute. Call it in a transaction.
 */
export function applyContract(db: Connection, contract: Contract, derived: ReadonlySet<string>): void {
  const stored = String(db.get('SELECT contract FROM "$sheet"')?.['contract'])
  if (stored === contract.text) return
  const before = parseStoredContract(stored)
  const change = compareContracts(before, contract)
  runSync(checkContractChange(recordsToCheck(db), change, derived))
  db.exec('DROP VIEW records')
  const gone = [...change.removed, ...change.retyped.map((pair) => pair.before)]
  const isKept = ({ name, field }: FieldIndex, others: readonly FieldIndex[]): boolean =>
    others.some((other) => other.name === name) && !gone.some((dropped) => dropped.name === field)
  const [indexes, wanted] = [fieldIndexes(before), fieldIndexes(contract)]
  for (const index of indexes)
    if (!isKept(index, wanted)) db.exec(`DROP INDEX IF EXISTS ${quoted(index.name)}`)
  for (const { name } of gone) db.exec(`ALTER TABLE "$data" DROP COLUMN ${quoted(name)}`)
  for (const field of [...change.added, ...change.retyped.map((pair) => pair.after)]) {
    db.exec(`ALTER TABLE "$data" ADD COLUMN ${columnDefinition(field)}`)
  }
  for (const index of wanted) if (!isKept(index, indexes)) db.exec(index.sql)
  db.exec(recordsView(contract))
  db.run('UPDATE "$sheet" SET contract = ?', contract.text)
  // Values that the contract refused may be allowed now.
  db.run(`UPDATE "$failure" SET hash = NULL WHERE error_type = 'ValidationError'`)
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
 * value; a changed file makes computed cells stale. A target whose derivation is removed keeps its states, which are stale
 * should it return. Stores every version of the files. Call it in a transaction.
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
    `INSERT INTO "$target" (field, derivation, sha256, kind, inputs, required, non_empty, sources, checked_sources, reads, active)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) RETURNING id`,
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
  const { reads, sources } = nextVersions(definition, db.query(targetVersion(target.id)))
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
  if (target.active && (target.sha256 === sha256 || definition.isChecked === true)) return
  // Version 0 keeps that of the cell: a computation under way used the old file, but no write happened (D28).
  const stale = db.run(
    `INSERT INTO "$todo" (target, record, state, mark) SELECT target, record, ${STALE}, 0 FROM "$cell" AS cell
     WHERE target = ? AND hash IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM "$todo" AS todo WHERE todo.target = cell.target AND todo.record = cell.record)`,
    target.id,
  )
  db.run('UPDATE "$target" SET stale = stale + ?, checked_sources = sources WHERE id = ?', stale, target.id)
}
