import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import { parseExactly } from '../../contract/json/exact-json.ts'
import { JSON_DEPTH_LIMIT, nestsTooDeep } from '../../contract/json/json-depth.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { unknownFieldMessage } from '../../contract/odcs/original-names.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import { fileError, RecordsError, type FileError } from '../../errors/service-error.ts'
import { parseLine } from '../../provenance/log-line.ts'
import { MAX_LINE_BYTES, readLines } from '../../provenance/read-lines.ts'
import { MOST_CHANGES } from '../fields/stored-changes.ts'
import { CHECKPOINT_FILE } from './checkpoint-file.ts'
import { collectGarbage } from './collect-garbage.ts'

/** The files of a sheet's directory from which a new store is created (D2). */
export interface SourcePaths {
  /** A store of SQLite. */
  readonly database: string
  readonly log: string
  readonly checkpoints: string
  readonly source: string
}

/** Returns the paths of these files in a sheet's directory. */
export function sourcePaths(directory: string): SourcePaths {
  return {
    database: join(directory, 'sheet.db'),
    log: join(directory, 'provenance.jsonl'),
    checkpoints: join(directory, CHECKPOINT_FILE),
    source: join(directory, 'records.jsonl'),
  }
}

export interface TextLine {
  /** From 1. */
  readonly number: number
  readonly text: string
  /** False for a last line without its line break. */
  readonly whole: boolean
}

/** Bytes that are read between two collections of garbage, so that memory does not grow with the file. */
const COLLECT_BYTES = 32 << 20

/**
 * Yields the lines of a UTF-8 text file that is imported. Throws RecordsError for a line that is too long, or for invalid
 * UTF-8. `onBytes` receives the bytes that are read, in the end all of the file.
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
        const message = `the line is longer than ${limit} MiB; make it shorter, or split it`
        throw lineError({ file: basename(path), line: number, message })
      }
      let text: string
      try {
        text = decoder.decode(bytes)
      } catch {
        throw lineError({ file: basename(path), line: number, message: 'not valid UTF-8' })
      }
      yield { number, text, whole }
    }
  } finally {
    closeSync(fd)
  }
}

/** The highest seq of an imported log, which leaves the store as many numbers again. */
const MAX_SEQ = 2 ** 52 - 1

/**
 * Reads a line of an imported `provenance.jsonl`; `last` is the seq of the line before. Returns null for an incomplete last
 * line after a crash. Throws RecordsError for anything else that is not such a line.
 */
export function readLogLine({ number, text, whole }: TextLine, last: number): JsonObject | null {
  const read = parseLine(text)
  const parsed = nestsTooDeep(read) ? null : read
  const seq = Number(parsed?.['seq'])
  // A last line that only lacks its line break is complete.
  if (parsed === null && !whole) return null
  if (parsed !== null && seq > last && seq <= MAX_SEQ) return parsed
  const message =
    `not a line of a provenance log with a "seq" above ${last} and below 2^52: ` +
    `${JSON.stringify(text.slice(0, 80))}; correct the line or move the file away`
  throw lineError({ file: 'provenance.jsonl', line: number, message })
}

/** Throws RecordsError for more changes of fields in an imported log than a store takes. */
export function checkChangeCount(count: number, line: number): void {
  if (count <= MOST_CHANGES) return
  const message = `changes fields for the ${count}th time, and a sheet takes ${MOST_CHANGES} such lines; move the file away`
  throw lineError({ file: 'provenance.jsonl', line, message })
}

/** Creates the error of a line of `records.jsonl` or `provenance.jsonl`. */
export function lineError(error: FileError & { readonly line: number }): RecordsError {
  return new RecordsError(...fileError(error, 'invalid_records_file'))
}

/** Creates the error of a field of a line of `records.jsonl`. */
export function recordFieldError(line: number, field: string, message: string): RecordsError {
  return lineError({ file: 'records.jsonl', line, message: `field ${JSON.stringify(field)}: ${message}` })
}

/**
 * Reads a line of `records.jsonl` and validates it against the contract, except uniqueness. A derived field may be without
 * a value. Throws RecordsError naming file, line and field.
 */
export function readRecordLine(
  { number, text }: TextLine,
  contract: Contract,
  derived: ReadonlySet<string>,
): JsonObject {
  const record = parseRecord(text, number)
  const unknown = Object.keys(record).find((name) => !contract.fieldByName.has(name))
  if (unknown !== undefined) {
    throw recordFieldError(number, unknown, unknownFieldMessage(contract, unknown))
  }
  for (const field of contract.fields) {
    const value = memberOf(record, field.name)
    const fault = value === null && derived.has(field.name) ? null : valueError(field, value)
    if (fault !== null) throw recordFieldError(number, field.name, fault)
  }
  return record
}

/**
 * Returns a member of an untrusted record, where `constructor` and the like are field names as any; null when it has none.
 */
export function memberOf(record: JsonObject, field: string): JsonValue {
  return Object.hasOwn(record, field) ? (record[field] ?? null) : null
}

function parseRecord(text: string, line: number): JsonObject {
  const fail = (message: string): never => {
    throw lineError({ file: 'records.jsonl', line, message })
  }
  let record: unknown
  try {
    record = parseExactly(text)
  } catch (error) {
    // Without the line number of the parser, which counts only within this text.
    const fault = (error instanceof Error ? error.message : '').replace(/ \(line \d+ column \d+\)$/, '')
    return fail(`not JSON: ${fault}`)
  }
  if (!isJsonObject(record)) return fail('a line must be a JSON object')
  if (nestsTooDeep(record)) fail(`nested more than ${JSON_DEPTH_LIMIT} levels deep; no field takes that`)
  return record
}

/** The `records.jsonl` that was imported; all null when there was none. */
export interface ImportedSource {
  readonly size: number | null
  /** Milliseconds since 1970. */
  readonly mtime: number | null
  /** Hex SHA-256. */
  readonly sha256: string | null
}

/**
 * Whether `records.jsonl` exists and is not the file that was imported; its hash is computed only when size or time differ.
 */
export function sourceDiffers(path: string, imported: ImportedSource): boolean {
  if (!existsSync(path)) return false
  const { size, mtimeMs } = statSync(path)
  if (imported.size === size && imported.mtime === Math.trunc(mtimeMs)) return false
  return imported.sha256 !== hashFile(path)
}

/** Returns the hex SHA-256 of a file. */
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
