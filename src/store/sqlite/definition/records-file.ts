import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import type { Contract } from '../../../contract/contract.ts'
import { isJsonObject } from '../../../contract/json/json.ts'
import { sameValue } from '../../same-value.ts'
import { memberOf, textLines, type TextLine } from '../../sheet-files/import-lines.ts'
import type { Connection } from '../database/connection.ts'
import { canBeId, fromColumn, jsonBytes } from '../database/values.ts'
import { recordJsonExpression } from '../sql/json-columns.ts'

/** Yields the lines of a file that contain records. */
export function* recordLines(path: string, onBytes?: (bytes: Uint8Array) => void): Generator<TextLine, void> {
  for (const line of textLines(path, onBytes)) if (line.text.trim() !== '') yield line
}

/**
 * Compares `records.jsonl` with the records of a store, and where it has these, in whatever order, stores that it is known. Returns
 * the first difference; null for none.
 */
export function knowRecordsFile(db: Connection, path: string, contract: Contract): string | null {
  const { size, mtimeMs } = statSync(path)
  const digest = createHash('sha256')
  const texts = recordTexts(db, contract)
  try {
    const difference = firstDifference(
      db,
      contract,
      recordLines(path, (bytes) => digest.update(bytes)),
      texts,
    )
    if (difference !== null) return difference
  } finally {
    // An open statement would keep the transaction open.
    texts.return()
  }
  db.run(
    'UPDATE "$sheet" SET source_size = ?, source_mtime = ?, source_sha256 = ?',
    size,
    Math.trunc(mtimeMs),
    digest.digest('hex'),
  )
  return null
}

function firstDifference(
  db: Connection,
  contract: Contract,
  lines: Iterable<TextLine>,
  texts: Iterator<string, void>,
): string | null {
  const byId = db.db.prepare('SELECT * FROM "$data" WHERE id = ?')
  const seen = new Set<string>()
  let count = 0
  for (const { number, text } of lines) {
    const fault = (what: string): string => `line ${number} of records.jsonl has ${what}`
    count += 1
    // An export has the same texts, and most mergers of two leave most of them in their places.
    const next = texts.next()
    if (next.value === text) continue
    const record = parsed(text)
    if (!isJsonObject(record)) return fault('no record')
    const id = memberOf(record, 'id')
    if (typeof id !== 'string') return fault('a record without an id')
    const row = canBeId(id) ? byId.get(id) : undefined
    if (row === undefined) return fault('a record that is not in the store')
    if (seen.has(id)) return fault('a record a second time')
    seen.add(id)
    const unknown = Object.keys(record).find((name) => !contract.fieldByName.has(name))
    if (unknown !== undefined) return fault(`a field "${unknown}", which the contract does not have`)
    const different = contract.fields.find(
      (field) => !sameValue(fromColumn(field, row[field.name]), memberOf(record, field.name)),
    )
    if (different !== undefined) return fault(`another value of "${different.name}" than the store`)
  }
  const stored = Number(db.get('SELECT count(*) AS count FROM "$data"')?.['count'])
  return count === stored ? null : `records.jsonl has ${count} records, and the store has ${stored}`
}

function* recordTexts(db: Connection, { fields }: Contract): Generator<string, void> {
  const sql = `SELECT CAST(${recordJsonExpression(fields)} AS BLOB) AS line FROM "$data" ORDER BY "$seq"`
  for (const row of db.db.prepare(sql).iterate()) yield jsonBytes(row['line']).toString()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
