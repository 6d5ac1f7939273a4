import { isDeepStrictEqual } from 'node:util'
import { compareContracts, type ContractChange } from '../../../contract/rules/compare-contracts.ts'
import type { Contract, Field } from '../../../contract/contract.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { valueError } from '../../../contract/values/validate-value.ts'
import { ContractError } from '../../../errors/service-error.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { checkColumns, columnDefinition, quoted, recordsView } from '../database/schema.ts'
import { fieldValue } from '../database/values.ts'

/** What it takes for the tables to follow a contract. */
export interface TableChanges {
  /** Fields whose columns are not there yet. */
  readonly newColumns: ReadonlySet<string>
  /** Statements that need the table of records for themselves. */
  readonly statements: readonly string[]
}

/**
 * Has the store follow a contract (D9), but for its tables, which the statements that it answers with are to change in the
 * same transaction; null where nothing is another than before. New optional properties get a column, loosened constraints
 * need nothing, and indexes follow later (`follow-indexes.ts`). Throws ContractError where stored records would lose values
 * or break the contract. `derived` names the fields that derivations compute.
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
  const faults = await contractFaults(db, change, derived)
  if (faults.length > 0) {
    throw new ContractError(
      `contract.yaml does not fit the stored records: ${faults.join('; ')}`,
      'contract_conflict',
    )
  }
  await db.run('UPDATE "$sheet" SET contract = $1', contract.text)
  // What the contract refused may be allowed now.
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

/** What stored records have against a change of the contract. */
async function contractFaults(
  db: Connection,
  change: ContractChange,
  derived: ReadonlySet<string>,
): Promise<string[]> {
  const faults: (string | null)[] = []
  for (const field of change.removed) faults.push(await removalFault(db, field))
  for (const { before, after } of change.retyped) faults.push(await retypingFault(db, before, after))
  for (const field of change.added) {
    if (!derived.has(field.name)) faults.push(await additionFault(db, field))
  }
  for (const field of change.recheck) faults.push(await tighteningFault(db, field, derived.has(field.name)))
  for (const field of change.uniqueAdded) faults.push(await uniquenessFault(db, field))
  return faults.filter((fault) => fault !== null)
}

async function recordCount(db: Connection): Promise<number> {
  return Number((await db.get('SELECT records FROM "$sheet"'))?.['records'])
}

async function valueCount(db: Connection, field: Field): Promise<number> {
  return Number((await db.get(`SELECT count(${quoted(field.name)}) AS n FROM "$data"`))?.['n'])
}

async function removalFault(db: Connection, field: Field): Promise<string | null> {
  if ((await recordCount(db)) === 0) return null
  return (
    `property "${field.name}" is gone (removed or renamed), which would lose its value in ${records(await valueCount(db, field))}; ` +
    'put it back'
  )
}

async function retypingFault(db: Connection, before: Field, after: Field): Promise<string | null> {
  if ((await recordCount(db)) === 0) return null
  return (
    `property "${before.name}" was of type ${before.type} and is now ${after.type}, which would break its value in ` +
    `${records(await valueCount(db, before))}; put the type back, or add a property of another name`
  )
}

async function additionFault(db: Connection, field: Field): Promise<string | null> {
  const count = await recordCount(db)
  if (!field.required || count === 0) return null
  return `the new property "${field.name}" is required, but ${records(count)} have no value for it; make it optional`
}

async function tighteningFault(db: Connection, field: Field, derived: boolean): Promise<string | null> {
  let broken = 0
  let example: string | null = null
  for await (const row of valuesOf(db, field)) {
    const value = fieldValue(field, row)
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

/** Rows that are held in memory at once. */
const ROWS_AT_ONCE = 5000

/** The rows of all records with one field, in creation order. */
async function* valuesOf(db: Connection, field: Field): AsyncGenerator<StoredRow, void> {
  const columns = ['"$seq"', 'id', '"$written"', quoted(field.name)]
  const sql = `SELECT ${[...new Set(columns)].join(', ')} FROM "$data" WHERE "$seq" > $1 ORDER BY "$seq" LIMIT $2`
  for (let after = 0; ;) {
    const rows = await db.all(sql, after, ROWS_AT_ONCE)
    yield* rows
    if (rows.length < ROWS_AT_ONCE) return
    after = Number(rows.at(-1)?.['$seq'])
  }
}

async function uniquenessFault(db: Connection, field: Field): Promise<string | null> {
  const broken = await sharedValueCount(db, field)
  if (broken === 0) return null
  return (
    `property "${field.name}" is now unique, but ${records(broken)} share a value with another; ` +
    'take "unique" away, or correct these records first'
  )
}

/** How many records share the value of a field with another; two values are one when they are written the same. */
async function sharedValueCount(db: Connection, field: Field): Promise<number> {
  const name = quoted(field.name)
  const written = `coalesce("$written" ->> '${field.name}', '')`
  const row = await db.get(
    `SELECT sum(n) AS broken FROM (
       SELECT count(*) AS n FROM "$data" WHERE ${name} IS NOT NULL GROUP BY ${name}, ${written} HAVING count(*) > 1) AS shared`,
  )
  return Number(row?.['broken'] ?? 0)
}

function records(count: number): string {
  return `${count} ${count === 1 ? 'record' : 'records'}`
}
