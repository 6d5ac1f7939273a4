import { compareContracts } from '../../../contract/rules/compare-contracts.ts'
import type { Contract, Field } from '../../../contract/contract.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { valueError } from '../../../contract/values/validate-value.ts'
import { ContractError } from '../../../errors/service-error.ts'
import type { TargetDefinition } from '../../sheet-store.ts'
import { StoredTargets, type StoredTarget } from '../../rows/stored-targets.ts'
import { BlockedCells } from '../changes/blocked-cells.ts'
import type { Connection } from '../database/connection.ts'
import { columnDefinition, fieldIndexes, quoted, recordsView, type FieldIndex } from '../database/schema.ts'
import { fromColumn } from '../database/values.ts'
import { MISSING, STALE } from '../../rows/stored-rows.ts'

/**
 * Makes the tables follow a contract (D9): new optional properties get a column, loosened constraints need nothing.
 * Throws ContractError where stored records would lose values or break the contract. `derived` names the fields that
 * derivations compute. To be called in a transaction.
 */
export function applyContract(db: Connection, contract: Contract, derived: ReadonlySet<string>): void {
  const stored = String(db.get('SELECT contract FROM "$sheet"')?.['contract'])
  if (stored === contract.text) return
  const before = parseStoredContract(stored)
  const change = compareContracts(before, contract)
  const faults = [
    ...change.removed.map((field) => removalFault(db, field)),
    ...change.retyped.map((pair) => retypingFault(db, pair.before, pair.after)),
    ...change.added.filter((field) => !derived.has(field.name)).map((field) => additionFault(db, field)),
    ...change.recheck.map((field) => tighteningFault(db, field, derived.has(field.name))),
    ...change.uniqueAdded.map((field) => uniquenessFault(db, field)),
  ].filter((fault) => fault !== null)
  if (faults.length > 0) {
    throw new ContractError(
      `contract.yaml does not fit the stored records: ${faults.join('; ')}`,
      'contract_conflict',
    )
  }
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
  // What the contract refused may be allowed now.
  db.run(`UPDATE "$failure" SET hash = NULL WHERE error_type = 'ValidationError'`)
}

function recordCount(db: Connection): number {
  return Number(db.get('SELECT records FROM "$sheet"')?.['records'])
}

function valueCount(db: Connection, field: Field): number {
  return Number(db.get(`SELECT count(${quoted(field.name)}) AS n FROM "$data"`)?.['n'])
}

function removalFault(db: Connection, field: Field): string | null {
  if (recordCount(db) === 0) return null
  return (
    `property "${field.name}" is gone (removed or renamed), which would lose its value in ${records(valueCount(db, field))}; ` +
    'put it back'
  )
}

function retypingFault(db: Connection, before: Field, after: Field): string | null {
  if (recordCount(db) === 0) return null
  return (
    `property "${before.name}" was of type ${before.type} and is now ${after.type}, which would break its value in ` +
    `${records(valueCount(db, before))}; put the type back, or add a property of another name`
  )
}

function additionFault(db: Connection, field: Field): string | null {
  if (!field.required || recordCount(db) === 0) return null
  return `the new property "${field.name}" is required, but ${records(recordCount(db))} have no value for it; make it optional`
}

function tighteningFault(db: Connection, field: Field, derived: boolean): string | null {
  let broken = 0
  let example: string | null = null
  const statement = db.db.prepare(`SELECT id, ${quoted(field.name)} AS value FROM "$data"`)
  for (const row of statement.iterate()) {
    const value = fromColumn(field, row['value'])
    // A derived cell that is not computed yet breaks nothing, required or not.
    const fault = value === null && derived ? null : valueError(field, value)
    if (fault === null) continue
    broken += 1
    example ??= `"${String(row['id'])}": ${fault}`
  }
  if (example === null) return null
  return (
    `property "${field.name}" allows less than before, and ${records(broken)} would break it (${example}); ` +
    'loosen it again, or correct these records first'
  )
}

function uniquenessFault(db: Connection, field: Field): string | null {
  const name = quoted(field.name)
  const row = db.get(
    `SELECT sum("$n") AS broken FROM (
       SELECT count(*) AS "$n" FROM "$data" WHERE ${name} IS NOT NULL GROUP BY ${name} HAVING count(*) > 1)`,
  )
  const broken = Number(row?.['broken'] ?? 0)
  if (broken === 0) return null
  return (
    `property "${field.name}" is now unique, but ${records(broken)} share a value with another; ` +
    'take "unique" away, or correct these records first'
  )
}

function records(count: number): string {
  return `${count} ${count === 1 ? 'record' : 'records'}`
}

/** The derived fields that the store knows. */
export function loadTargets(db: Connection): StoredTarget[] {
  return db
    .all(
      'SELECT id, field, derivation, sha256, kind, inputs, required, non_empty, active FROM "$target" ORDER BY id',
    )
    .map((row) => ({
      id: Number(row['id']),
      field: String(row['field']),
      derivation: String(row['derivation']),
      sha256: String(row['sha256']),
      kind: String(row['kind']),
      inputs: JSON.parse(String(row['inputs'])) as string[],
      required: JSON.parse(String(row['required'])) as string[] | null,
      nonEmpty: JSON.parse(String(row['non_empty'])) as string[] | null,
      active: row['active'] === 1,
    }))
}

/**
 * Makes the cell states follow the derivations. The cells of a new target are missing, or overridden where the field
 * has a value already; a changed file makes computed cells stale. A target without its derivation keeps its states
 * for the day that it comes back, and is then stale. Keeps every version of the files. To be called in a transaction.
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
    else if (isSame(target, definition)) continue
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

/** Keeps the text of a derivation file, so that it can be told what changed since; writes nothing when it is known. */
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
  const row = db.get(
    'INSERT INTO "$target" (field, derivation, sha256, kind, inputs, required, non_empty, active) VALUES (?, ?, ?, ?, ?, ?, ?, 1) RETURNING id',
    field,
    derivation,
    sha256,
    kind,
    JSON.stringify(inputs),
    JSON.stringify(required),
    JSON.stringify(nonEmpty),
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

function isSame(target: StoredTarget, definition: TargetDefinition): boolean {
  return (
    target.active &&
    target.sha256 === definition.sha256 &&
    target.derivation === definition.derivation &&
    target.kind === definition.kind &&
    JSON.stringify(target.inputs) === JSON.stringify(definition.inputs) &&
    JSON.stringify(target.required) === JSON.stringify(definition.required) &&
    JSON.stringify(target.nonEmpty) === JSON.stringify(definition.nonEmpty)
  )
}

function updateTarget(db: Connection, target: StoredTarget, definition: TargetDefinition): void {
  const { derivation, sha256, kind, inputs, required, nonEmpty } = definition
  db.run(
    'UPDATE "$target" SET derivation = ?, sha256 = ?, kind = ?, inputs = ?, required = ?, non_empty = ?, active = 1 WHERE id = ?',
    derivation,
    sha256,
    kind,
    JSON.stringify(inputs),
    JSON.stringify(required),
    JSON.stringify(nonEmpty),
    target.id,
  )
  if (target.active && target.sha256 === sha256) return
  // Mark 0 leaves the cell's mark as it is: a result that is under way is of the old file, but nobody wrote (D28).
  const stale = db.run(
    `INSERT INTO "$todo" (target, record, state, mark) SELECT target, record, ${STALE}, 0 FROM "$cell" AS cell
     WHERE target = ? AND hash IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM "$todo" AS todo WHERE todo.target = cell.target AND todo.record = cell.record)`,
    target.id,
  )
  db.run('UPDATE "$target" SET stale = stale + ? WHERE id = ?', stale, target.id)
}
