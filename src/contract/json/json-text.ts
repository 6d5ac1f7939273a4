import { isUtf8 } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ValidationError } from '../../errors/service-error.ts'
import { firstWrittenNumber, parseExactly } from './exact-json.ts'
import { JSON_DEPTH_LIMIT, nestsTooDeep } from './json-depth.ts'
import { DepthError, PART_BYTES, parseInParts, UNCUT_BYTES, UncutError } from './parse-in-parts.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses the body of a request in parts, between which other requests are served: 32 MiB at once may take seconds.
 * Throws ValidationError for invalid JSON or UTF-8 (D36), for numbers that would lose digits, and for more than
 * `mostValues` items and members: millions of them cannot be validated in parts.
 */
export function parseJsonBodyInTurns(body: Uint8Array, mostValues: number): Promise<unknown> {
  let values = 0
  return parseInTurns(body, (part) => {
    refuseLossyNumbers(part)
    values += countValues(part)
    if (values > mostValues)
      throw new ValidationError(
        `the body has more than ${mostValues} values; send fewer at once`,
        'too_many_items',
      )
  })
}

/** Counts the items and members of a value, at any depth. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const values = Object.values(value)
  return values.reduce<number>((sum, inner) => sum + countValues(inner), values.length)
}

/**
 * Parses a body whose numbers the contract validates: those that would lose digits are a `WrittenNumber`. Throws
 * ValidationError for invalid JSON or UTF-8.
 */
export function parseRecordsBody(body: Uint8Array | string): unknown {
  const text = typeof body === 'string' ? body : decode(body)
  let value: unknown
  try {
    value = parseExactly(text)
  } catch (error) {
    throw notJson(error)
  }
  if (nestsTooDeep(value)) throw tooDeep()
  return value
}

/** Does the same in parts, like {@link parseJsonBodyInTurns}. */
export async function parseRecordsBodyInTurns(body: Uint8Array | string): Promise<unknown> {
  if (typeof body !== 'string') return parseInTurns(body, () => undefined)
  // In bytes, another character would replace malformed ones, and is refused.
  return body.isWellFormed() ? parseInTurns(Buffer.from(body), () => undefined) : parseRecordsBody(body)
}

/** Parses JSON of the store in parts, like {@link parseJsonBodyInTurns}. */
export async function parseStoredJsonInTurns(json: Uint8Array): Promise<unknown> {
  const text = (): unknown => JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString())
  if (json.length <= PART_BYTES) return text()
  const parts = parseInParts(json)
  try {
    for (let part = parts.next(); ; part = parts.next()) {
      if (part.done === true) return part.value
      await nextTurn()
    }
  } catch (error) {
    if (error instanceof DepthError || error instanceof UncutError) return text()
    throw error
  }
}

/** Parses in parts; `check` is called with each. */
async function parseInTurns(body: Uint8Array, check: (part: unknown) => void): Promise<unknown> {
  if (body.length <= PART_BYTES) {
    const value = parseRecordsBody(body)
    check(value)
    return value
  }
  if (!isUtf8(body)) throw notUtf8()
  const parts = parseInParts(body)
  try {
    for (let part = parts.next(); ; part = parts.next()) {
      if (part.done === true) return part.value
      check(part.value)
      await nextTurn()
    }
  } catch (error) {
    if (error instanceof DepthError) throw tooDeep()
    if (error instanceof UncutError) throw uncut()
    throw error instanceof SyntaxError ? notJson(error) : error
  }
}

function refuseLossyNumbers(value: unknown): void {
  const lossy = firstWrittenNumber(value)
  if (lossy !== null)
    throw new ValidationError(`the body has a number that would lose digits: ${lossy.fault}`, 'lossy_number')
}

function decode(body: Uint8Array): string {
  try {
    return UTF8.decode(body)
  } catch {
    throw notUtf8()
  }
}

function notUtf8(): ValidationError {
  return new ValidationError('the body is not UTF-8', 'invalid_json')
}

function notJson(error: unknown): ValidationError {
  return new ValidationError(
    `the body is not JSON: ${error instanceof Error ? error.message : ''}`,
    'invalid_json',
  )
}

function uncut(): ValidationError {
  const most = `${UNCUT_BYTES >> 20} MiB`
  return new ValidationError(
    `the body has a number, the name of a member or white space of more than ${most}; make it shorter`,
    'invalid_json',
  )
}

function tooDeep(): ValidationError {
  return new ValidationError(
    `the body nests arrays and objects more than ${JSON_DEPTH_LIMIT} levels deep; send flatter values`,
    'invalid_json',
  )
}
