import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import { parseExactly } from '../../contract/json/exact-json.ts'
import { JSON_DEPTH_LIMIT, nestsTooDeep } from '../../contract/json/json-depth.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { unknownFieldMessage } from '../../contract/odcs/original-names.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import { RecordsError } from '../../errors/service-error.ts'
import { parseLine } from '../../provenance/log-line.ts'
import { MAX_LINE_BYTES, readLines } from '../../provenance/read-lines.ts'
import { collectGarbage } from './collect-garbage.ts'

/** The files of a sheet's directory that a new store begins from (D2). */
export interface SourcePaths {
  /** A store of the other engine. */
  readonly database: string
  readonly log: string
  readonly source: string
}

/** Where a sheet's directory has these files. */
export function sourcePaths(directory: string): SourcePaths {
  return {
    database: join(directory, 'sheet.db'),
    log: join(directory, 'provenance.jsonl'),
    source: join(directory, 'records.jsonl'),
  }
}

/** A line of a file. */
export interface TextLine {
  /** From 1. */
  readonly number: number
  readonly text: string
  /** False for a last line without its line break. */
  readonly whole: boolean
}

/** So much text is read until what was made of it is collected, so that memory does not grow with the file. */
const COLLECT_BYTES = 32 << 20

/**
 * The lines of a file of UTF-8 text that is imported. Throws RecordsError for one that is too long, or no UTF-8. `onBytes` is
 * told what is read: in the end, all that the file has.
 */
export function* textLines(path: string, onBytes?: (bytes: Uint8Array) => void): Generator<TextLine, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const fd = openSync(path, 'r')
  try {
    let collected = 0
    for (const { number, bytes, end, tooLong, whole } of readLines(fd, 0, { onBytes })) {
      if (end >= collected + COLLECT_BYTES) {
        collectGarbage()
        collected = end
      }
      if (tooLong) {
        const limit = MAX_LINE_BYTES / 1024 / 1024
        throw new RecordsError(
          `${basename(path)}:${number}: the line is longer than ${limit} MiB; make it shorter, or split it`,
          'invalid_records_file',
        )
      }
      let text: string
      try {
        text = decoder.decode(bytes)
      } catch {
        throw new RecordsError(`${basename(path)}:${number}: not valid UTF-8`, 'invalid_records_file')
      }
      yield { number, text, whole }
    }
  } finally {
    closeSync(fd)
  }
}

/** A log that was there before leaves the store as many numbers again. */
const MAX_SEQ = 2 ** 52 - 1

/**
 * Reads a line of a `provenance.jsonl` that was there before the store; `last` is the seq of the line before. Null for what
 * a crash tore off the end of the file. Throws RecordsError for anything else that is no such line.
 */
export function readLogLine({ number, text, whole }: TextLine, last: number): JsonObject | null {
  const read = parseLine(text)
  const parsed = nestsTooDeep(read) ? null : read
  const seq = Number(parsed?.['seq'])
  // One that only lacks its line break is a line.
  if (parsed === null && !whole) return null
  if (parsed !== null && seq > last && seq <= MAX_SEQ) return parsed
  throw new RecordsError(
    `provenance.jsonl:${number}: not a line of a provenance log with a "seq" above ${last} and below 2^52: ` +
      `${JSON.stringify(text.slice(0, 80))}; correct the line or move the file away`,
    'invalid_records_file',
  )
}

/**
 * Reads a line of `records.jsonl`, and holds it to the contract; uniqueness is not looked at. A derived field may be without
 * a value. Throws RecordsError naming file, line and field.
 */
export function readRecordLine(
  { number, text }: TextLine,
  contract: Contract,
  derived: ReadonlySet<string>,
): JsonObject {
  const where = `records.jsonl:${number}`
  const record = parseRecord(text, where)
  const unknown = Object.keys(record).find((name) => !contract.fieldByName.has(name))
  if (unknown !== undefined) {
    const fault = unknownFieldMessage(contract, unknown)
    throw new RecordsError(`${where}, field ${JSON.stringify(unknown)}: ${fault}`, 'invalid_records_file')
  }
  for (const field of contract.fields) {
    const value = memberOf(record, field.name)
    const fault = value === null && derived.has(field.name) ? null : valueError(field, value)
    if (fault !== null)
      throw new RecordsError(`${where}, field "${field.name}": ${fault}`, 'invalid_records_file')
  }
  return record
}

/** A member of a record from outside, where `constructor` and the like are field names as any; null when it has none. */
export function memberOf(record: JsonObject, field: string): JsonValue {
  return Object.hasOwn(record, field) ? (record[field] ?? null) : null
}

function parseRecord(text: string, where: string): JsonObject {
  let record: unknown
  try {
    record = parseExactly(text)
  } catch (error) {
    // Without the parser's own count of lines, which is that of the text it was given.
    const fault = (error instanceof Error ? error.message : '').replace(/ \(line \d+ column \d+\)$/, '')
    throw new RecordsError(`${where}: not JSON: ${fault}`, 'invalid_records_file')
  }
  if (!isJsonObject(record))
    throw new RecordsError(`${where}: a line must be a JSON object`, 'invalid_records_file')
  if (nestsTooDeep(record)) {
    throw new RecordsError(
      `${where}: nested more than ${JSON_DEPTH_LIMIT} levels deep; no field takes that`,
      'invalid_records_file',
    )
  }
  return record
}

/** What is remembered of the `records.jsonl` that was imported; all null when there was none. */
export interface ImportedSource {
  readonly size: number | null
  /** Milliseconds since 1970. */
  readonly mtime: number | null
  /** Hex SHA-256. */
  readonly sha256: string | null
}

/** Whether `records.jsonl` is there and not the file that was imported; its hash is taken only when size or time differ. */
export function sourceDiffers(path: string, imported: ImportedSource): boolean {
  if (!existsSync(path)) return false
  const { size, mtimeMs } = statSync(path)
  if (imported.size === size && imported.mtime === Math.trunc(mtimeMs)) return false
  return imported.sha256 !== hashFile(path)
}

/** Hex SHA-256 of a file. */
export function hashFile(path: string): string {
  const digest = createHash('sha256')
  const chunk = Buffer.allocUnsafe(1 << 20)
  const fd = openSync(path, 'r')
  try {
    for (let size = readSync(fd, chunk); size > 0; size = readSync(fd, chunk))
      digest.update(chunk.subarray(0, size))
  } finally {
    closeSync(fd)
  }
  return digest.digest('hex')
}
