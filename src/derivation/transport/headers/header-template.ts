import { isJsonObject } from '../../../contract/json/json.ts'
import type { JsonValue } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { OperationError } from '../../../errors/service-error.ts'
import type { InputValues, ParseContext } from '../../definition/derivation-kind.ts'
import { inputValue, parseHeaderTemplate, percentEncode, plainText } from '../../definition/template.ts'
import type { EnvSlot, Part } from '../../definition/template.ts'

/** The template of one header. */
export interface HeaderTemplate {
  readonly name: string
  readonly parts: readonly Part[]
}

/** A header with its fields filled in; placeholders of the environment are not, so it contains no secret. */
export interface PlannedHeader {
  readonly name: string
  readonly parts: readonly (string | EnvSlot)[]
}

/** Headers about the connection or the message's framing, which the transport sets (RFC 9110, sections 7.2, 7.6.1). */
const RESERVED = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Reads `headers`. Throws ContractError through the context. */
export function parseHeaders(
  headers: JsonValue,
  context: Pick<ParseContext, 'contract' | 'fail'>,
): readonly HeaderTemplate[] {
  if (!isJsonObject(headers))
    return context.fail(['headers'], 'headers is not a map of header names to values')
  const seen = new Set<string>()
  return Object.entries(headers).map(([name, value]) => {
    const fail = (message: string): never => context.fail(['headers', name], message)
    refuseName(name, fail)
    if (seen.has(name.toLowerCase())) fail(`the header "${name}" is there twice; keep one`)
    seen.add(name.toLowerCase())
    if (typeof value !== 'string') {
      return fail(
        `the header "${name}" has the value ${showValue(value)}, which is no text; put it in quotes`,
      )
    }
    const parts = parseHeaderTemplate(value, { contract: context.contract, fail })
    if (parts.some((part) => typeof part === 'string' && hasControlCharacter(part))) {
      fail(`the header "${name}" holds a line break or another control character; take it out`)
    }
    return { name, parts }
  })
}

function refuseName(name: string, fail: (message: string) => never): void {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) fail(`"${name}" is no header name (RFC 9110, section 5.1)`)
  if (RESERVED.has(name.toLowerCase())) fail(`the header "${name}" is set by the service; take it out`)
}

function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text)
}

/** Returns the names of the environment variables that headers use, each once. */
export function envNames(headers: readonly { readonly parts: readonly Part[] }[]): readonly string[] {
  const names = headers.flatMap(({ parts }) =>
    parts.flatMap((part) => (typeof part === 'object' && 'env' in part ? [part.env] : [])),
  )
  return [...new Set(names)]
}

/** Fills the inputs into headers, percent-encoded (H2), or returns the field that is null (D22). */
export function planHeaders(
  headers: readonly HeaderTemplate[],
  inputs: InputValues,
):
  | { readonly outcome: 'headers'; readonly headers: readonly PlannedHeader[] }
  | { readonly outcome: 'blocked'; readonly field: string } {
  const planned: PlannedHeader[] = []
  for (const { name, parts } of headers) {
    const filled: (string | EnvSlot)[] = []
    for (const part of parts) {
      if (typeof part === 'string' || 'env' in part) {
        filled.push(part)
        continue
      }
      const value = inputValue(inputs, part.field)
      if (value === null) return { outcome: 'blocked', field: part.field }
      filled.push(percentEncode(plainText(value)))
    }
    planned.push({ name, parts: filled })
  }
  return { outcome: 'headers', headers: planned }
}

/**
 * Returns the value of an environment variable for a header (D23). Throws OperationError, never with the value, if it is missing or has
 * control characters. `file` is the derivation file that uses it.
 */
export function readEnv(name: string, env: NodeJS.ProcessEnv, file: string): string {
  // `env` inherits from Object.
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  if (value === undefined) {
    throw new OperationError(
      `${file} needs the environment variable ${name}, which is not set; set it and restart`,
      'unset_variable',
    )
  }
  if (hasControlCharacter(value)) {
    throw new OperationError(
      `${file} needs the environment variable ${name}, which holds a line break or another control character; ` +
        'set it without',
      'unset_variable',
    )
  }
  return value
}
