import type { Field } from '../../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { coerceComputed, valueError } from '../../../contract/values/validate-value.ts'
import type { Failure } from '../../../errors/failure.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import { parseJson } from '../../transport/response/parse-json.ts'
import type { Reply } from './adapters/adapter.ts'

/** The values of an answer, by target. */
export interface Answer {
  readonly values: { readonly [target: string]: Result<JsonValue, Failure> }
  /** Violations that another answer may correct, in words for the model; empty for none. */
  readonly violations: readonly string[]
}

/** The form of an answer, and the parts of its failures. */
export interface Expected {
  readonly form: 'text' | 'json'
  readonly fields: readonly Field[]
  readonly request: string
  /** Returns the start of the answer as failures may show it. */
  excerpt(): string
}

/**
 * Reads the values of a response, each validated against the contract. A refusal, an answer that was cut off, and an empty one fail all
 * targets, and another request would not help.
 */
export function readAnswer(reply: Reply, expected: Expected): Answer {
  const { finish, stopped, text } = reply
  const shown = finish === null ? 'no finish reason' : `finish reason ${showValue(finish)}`
  if (stopped === 'refused') {
    return failed({ reason: 'refusal', detail: `the model refused to answer (${shown})` }, expected)
  }
  if (stopped === 'truncated') {
    const detail = `the answer was cut off (${shown}); raise max_output_tokens`
    return failed({ reason: 'truncated', detail }, expected)
  }
  if (stopped === 'other') {
    return failed(
      { reason: 'unusable_answer', detail: `the model did not end its answer (${shown})` },
      expected,
    )
  }
  const trimmed = text.trim()
  if (trimmed === '') return failed({ reason: 'empty_answer', detail: 'the answer is empty' }, expected)
  return expected.form === 'text' ? readText(trimmed, expected) : readObject(trimmed, expected)
}

/** Text for a field of another type is JSON. */
function readText(text: string, expected: Expected): Answer {
  const [field] = expected.fields
  if (field === undefined) throw new Error('a text has one target')
  const isText = ['string', 'date', 'timestamp', 'time'].includes(field.type)
  const value = isText ? text : (parseJson(text) ?? text)
  return validated({ [field.name]: value }, expected)
}

function readObject(text: string, expected: Expected): Answer {
  const value = parseJson(text)
  const names = expected.fields.map(({ name }) => name).join(', ')
  if (isJsonObject(value)) return validated(value, expected)
  const form = `a JSON object with ${names}`
  if (value !== undefined) {
    const detail = `the answer is JSON, but not ${form}`
    return failed({ reason: 'unusable_answer', detail }, expected, [detail])
  }
  if (hasObjectInside(text)) {
    const detail = 'the answer has text around its JSON object'
    return failed({ reason: 'text_around_json', detail }, expected, [detail])
  }
  return failed({ reason: 'malformed_json' }, expected, [`the answer is not ${form}`])
}

function hasObjectInside(text: string): boolean {
  const start = text.indexOf('{')
  const end = text.lastIndexOf('}')
  return start !== -1 && end > start && isJsonObject(parseJson(text.slice(start, end + 1)))
}

function validated(answer: JsonObject, { fields, request, excerpt }: Expected): Answer {
  const violations: string[] = []
  const results = fields.map((field): [string, Result<JsonValue, Failure>] => {
    const { name } = field
    const value = Object.hasOwn(answer, name) ? answer[name] : undefined
    if (value === undefined) {
      violations.push(`"${name}" is missing`)
      return [name, err({ reason: 'missing_path', request, path: name })]
    }
    const detail = valueError(field, coerceComputed(field, value))
    if (detail === null) return [name, ok(value)]
    violations.push(`"${name}": ${detail}`)
    return [
      name,
      err({ reason: 'contract', request, detail: `field "${name}": ${detail}`, ...withBody(excerpt()) }),
    ]
  })
  return { values: Object.fromEntries(results), violations }
}

type Cause =
  | {
      readonly reason: 'refusal' | 'truncated' | 'empty_answer' | 'text_around_json' | 'unusable_answer'
      readonly detail: string
    }
  | { readonly reason: 'malformed_json' }

/** Returns an answer without values. */
function failed(
  cause: Cause,
  { fields, request, excerpt }: Expected,
  violations: readonly string[] = [],
): Answer {
  const failure: Failure = { ...cause, request, ...withBody(excerpt()) }
  return { values: Object.fromEntries(fields.map(({ name }) => [name, err(failure)])), violations }
}

function withBody(excerpt: string): { readonly responseBody?: string } {
  return excerpt === '' ? {} : { responseBody: excerpt }
}
