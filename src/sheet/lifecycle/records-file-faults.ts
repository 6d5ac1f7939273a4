import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '../../contract/json/json.ts'
import { JSON_DEPTH_LIMIT, nestsTooDeep } from '../../contract/json/json-depth.ts'
import { unknownFieldMessage } from '../../contract/odcs/original-names.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { parseExactly } from '../../contract/json/exact-json.ts'
import type { FileError } from '../../errors/service-error.ts'
import { readLines } from '../../provenance/read-lines.ts'
import { lookAtFile } from '../../store/sheet-files/sheet-paths.ts'
import { valueFaults, type RecordRules } from './record-rules.ts'

const FILE = 'records.jsonl'

/**
 * Yields all errors of `records.jsonl` that importing it would find, with their lines; none when the file
 * does not exist.
 */
export function* recordsFileFaults(directory: string, rules: RecordRules): Generator<FileError> {
  const entry = lookAtFile({ directory, path: join(directory, FILE), name: FILE })
  if (entry === null) return
  const fd = openSync(entry.realPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const lines = new LineChecker(rules)
    for (const { bytes, number, tooLong } of readLines(fd, 0)) {
      for (const fault of tooLong ? ['the line is too long'] : lines.faultsOf(bytes, number)) {
        yield { file: FILE, line: number, message: fault }
      }
    }
  } finally {
    closeSync(fd)
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

class LineChecker {
  readonly #rules: RecordRules
  /** The line that first had each value, by field that must be unique. */
  readonly #seen: ReadonlyMap<string, Map<string, number>>

  constructor(rules: RecordRules) {
    this.#rules = rules
    const unique = rules.contract.fields.filter((field) => field.unique || field.primaryKey)
    this.#seen = new Map(unique.map(({ name }) => [name, new Map()]))
  }

  *faultsOf(bytes: Uint8Array, number: number): Generator<string> {
    const record = parse(bytes)
    if (record === null) return
    if (typeof record === 'string') return yield record
    for (const name of Object.keys(record)) {
      if (!this.#rules.contract.fieldByName.has(name)) {
        yield `field ${showValue(name)}: ${unknownFieldMessage(this.#rules.contract, name)}`
      }
    }
    for (const { field, fault } of valueFaults(record, this.#rules)) yield `field "${field}": ${fault}`
    yield* this.#repeated(record, number)
  }

  *#repeated(record: JsonObject, number: number): Generator<string> {
    for (const [name, lines] of this.#seen) {
      const value = Object.hasOwn(record, name) ? (record[name] ?? null) : null
      if (value === null) continue
      const key = JSON.stringify(value)
      const first = lines.get(key)
      if (first === undefined) lines.set(key, number)
      else yield `field "${name}": must be unique, but line ${first} also has ${showValue(value)}`
    }
  }
}

/** Parses a line. Returns a record, an error message, or null for an empty line. */
function parse(bytes: Uint8Array): JsonObject | string | null {
  let value: unknown
  try {
    const text = UTF8.decode(bytes)
    if (text.trim() === '') return null
    value = parseExactly(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) return 'not valid UTF-8'
    // Without the position within the line, which the parser reports as a line and column.
    return `not JSON: ${error.message.replace(/ \(line \d+ column \d+\)$/, '')}`
  }
  if (nestsTooDeep(value)) return `nested more than ${JSON_DEPTH_LIMIT} levels deep; no field takes that`
  return isJsonObject(value) ? value : 'a line must be a JSON object'
}
