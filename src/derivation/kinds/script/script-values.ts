import type { Contract } from '../../../contract/contract.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json/json.ts'
import type { Failure } from '../../../errors/failure.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import type { Computed } from '../../definition/derivation-kind.ts'
import { SecretSearch } from '../../transport/guard/secret-search.ts'
import type { SecretGuard } from '../../transport/guard/secret-guard.ts'
import { parseJson } from '../../transport/response/parse-json.ts'

/** The context in which the answer of a script is read. */
export interface AnswerContext {
  readonly contract: Contract
  readonly targets: readonly string[]
  readonly output: 'text' | 'json'
  /** The name of the computation in failures. */
  readonly request: string
  /** The secrets that no value may contain. */
  readonly guard: SecretGuard
}

/** Returns the values in the standard output of a process for one record. */
export function valuesOfOutput(
  bytes: Uint8Array,
  context: AnswerContext,
): Result<Computed['values'], Failure> {
  const { targets, output, request, guard } = context
  const [target = ''] = targets
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim()
  } catch {
    return err({ reason: 'computation', request, detail: 'standard output is not UTF-8 text' })
  }
  if (output === 'text') return ok(valuesOf({ [target]: textValue(text, target, context) }, context))
  const json = parseJson(text)
  if (json === undefined) return err({ reason: 'malformed_json', request, ...shown(text, guard) })
  if (targets.length === 1) return ok(valuesOf({ [target]: json }, context))
  if (!isJsonObject(json)) {
    return err({
      reason: 'computation',
      request,
      detail: `the output is no object with ${targets.join(', ')}`,
    })
  }
  return ok(valuesOf(json, context))
}

/** Returns the values of the targets in an object; a target that it lacks, or whose value repeats a secret, fails. */
export function valuesOf(values: JsonObject, { targets, request, guard }: AnswerContext): Computed['values'] {
  const search = new SecretSearch(guard)
  const valueOf = (target: string): Result<JsonValue, Failure> => {
    const value = Object.hasOwn(values, target) ? values[target] : undefined
    if (value === undefined) {
      return err({ reason: 'computation', request, detail: `the output has no "${target}"` })
    }
    switch (search.verdict(value)) {
      case 'clean':
        return ok(value)
      case 'repeats':
        return err({ reason: 'computation', request, detail: 'the value repeats a secret of env' })
      case 'not-searched':
        return err({
          reason: 'computation',
          request,
          detail: 'the value is beyond what is searched for secrets',
        })
    }
  }
  return Object.fromEntries(targets.map((target) => [target, valueOf(target)]))
}

/** Returns text as a value of the target: null for none, and what it is as JSON for a field that is not a string. */
function textValue(text: string, target: string, { contract }: AnswerContext): JsonValue {
  if (text === '') return null
  const type = contract.fieldByName.get(target)?.type
  const isJson = type !== undefined && ['integer', 'number', 'boolean', 'array', 'object'].includes(type)
  return (isJson ? parseJson(text) : undefined) ?? text
}

const SHOWN_CHARACTERS = 1000

/** Characters that neither a terminal nor every store takes, but for tabs and line breaks. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g

function shown(text: string, guard: SecretGuard): { readonly responseBody?: string } {
  const start = startOf(text, guard, SHOWN_CHARACTERS)
  return start === '' ? {} : { responseBody: start }
}

/** The characters that are searched for secrets before a text is cut: part of a secret must not be left. */
const SEARCHED_CHARACTERS = 16 * 1024

/** Returns the first characters of a text for a failure: without control characters, and withheld if the text repeats a secret. */
export function startOf(text: string, guard: SecretGuard, length: number): string {
  return withoutSecrets(text.slice(0, SEARCHED_CHARACTERS), guard).slice(0, length)
}

/**
 * Returns the end of a text for a failure: without control characters, and withheld if it repeats a secret. `visible` is what is returned
 * of the text that is searched: with some of it replaced, it may have no more than a part of a secret.
 */
export function endOf(text: string, guard: SecretGuard, visible = text): string {
  const trimmed = withoutSecrets(text, guard, visible).trimEnd()
  return trimmed.length <= SHOWN_CHARACTERS ? trimmed : `…${trimmed.slice(-SHOWN_CHARACTERS)}`
}

function withoutSecrets(text: string, guard: SecretGuard, visible = text): string {
  if (guard.isIn(text)) return '[withheld: it repeats a secret of env]'
  return visible.replaceAll(CONTROLS, '\u{fffd}')
}
