import { ValidationError } from '../errors/service-error.ts'
import { firstWrittenNumber, parseExactly } from './exact-json.ts'
import { JSON_DEPTH_LIMIT, nestsTooDeep } from './json-depth.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses the body of a request, which is a stranger's. Throws ValidationError for what is no JSON in UTF-8 (D36), and for
 * numbers that would lose digits.
 */
export function parseJsonBody(body: Uint8Array): unknown {
  const value = parseRecordsBody(body)
  const lossy = firstWrittenNumber(value)
  if (lossy !== null)
    throw new ValidationError(`the body has a number that would lose digits: ${lossy.fault}`)
  return value
}

/**
 * Parses a body whose numbers are checked against a contract: those that would lose digits are a `WrittenNumber`. Throws
 * ValidationError for what is no JSON in UTF-8.
 */
export function parseRecordsBody(body: Uint8Array | string): unknown {
  const text = typeof body === 'string' ? body : decode(body)
  let value: unknown
  try {
    value = parseExactly(text)
  } catch (error) {
    throw new ValidationError(`the body is not JSON: ${error instanceof Error ? error.message : ''}`)
  }
  if (nestsTooDeep(value)) {
    throw new ValidationError(
      `the body nests arrays and objects more than ${JSON_DEPTH_LIMIT} levels deep; send flatter values`,
    )
  }
  return value
}

function decode(body: Uint8Array): string {
  try {
    return UTF8.decode(body)
  } catch {
    throw new ValidationError('the body is not UTF-8')
  }
}
