import type { Contract } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import type { TextEdit } from '../../contract/yaml/edit/yaml-edit.ts'
import type { InputValues } from './derivation-kind.ts'
import { didYouMean } from './did-you-mean.ts'

/** A placeholder `{{ field }}` (D21). */
export interface FieldSlot {
  readonly field: string
}

/** A placeholder `{{ env.NAME }}` (D23). */
export interface EnvSlot {
  readonly env: string
}

/** A piece of a template: literal text or a placeholder. */
export type Part = string | FieldSlot | EnvSlot

/** The names that a template may use, and the function that reports its errors. */
export interface TemplateScope {
  readonly contract: Contract
  /** Throws a ContractError with the position of the template. */
  fail(message: string): never
}

const ENV_NAME = /^env\.([A-Za-z_][A-Za-z0-9_]*)$/

/**
 * Splits a template whose placeholders are fields into its parts; literal text is never empty and never adjacent to other literal text.
 * Calls `scope.fail` for placeholders that are malformed, unclosed, or no field (D20).
 */
export function parseTemplate(text: string, scope: TemplateScope): readonly (string | FieldSlot)[] {
  return split(text, scope, (name) => {
    if (ENV_NAME.test(name))
      scope.fail(`{{ ${name} }} is allowed in header values only; move it to "headers"`)
    return fieldSlot(name, scope)
  })
}

/** Parses like {@link parseTemplate}, with `{{ env.NAME }}` allowed: for header values only (D23). */
export function parseHeaderTemplate(text: string, scope: TemplateScope): readonly Part[] {
  return split<Part>(text, scope, (name) => {
    const env = ENV_NAME.exec(name)?.[1]
    return env === undefined ? fieldSlot(name, scope) : { env }
  })
}

function split<P>(text: string, scope: TemplateScope, slot: (name: string) => P): readonly (P | string)[] {
  const parts: (P | string)[] = []
  let position = 0
  for (;;) {
    const open = text.indexOf('{{', position)
    if (open === -1) break
    const close = text.indexOf('}}', open + 2)
    if (close === -1)
      scope.fail(`a placeholder is not closed: "${excerpt(text.slice(open))}"; end it with }}`)
    if (open > position) parts.push(text.slice(position, open))
    parts.push(slot(text.slice(open + 2, close).trim()))
    position = close + 2
  }
  if (position < text.length) parts.push(text.slice(position))
  return parts
}

function fieldSlot(name: string, scope: TemplateScope): FieldSlot {
  const { fieldByName } = scope.contract
  if (fieldByName.has(name)) return { field: name }
  if (name === '') scope.fail('a placeholder is empty; write {{ field }} with a field of the contract')
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    scope.fail(
      `the placeholder "{{ ${excerpt(name)} }}" is malformed; write {{ field }} with a field of the contract`,
    )
  }
  return scope.fail(
    `the placeholder {{ ${excerpt(name)} }} is no field of the contract${didYouMean(name, fieldByName.keys())}`,
  )
}

function excerpt(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** Returns the fields that placeholders name, each once, in the order of their first use. */
export function fieldsOf(parts: readonly Part[]): string[] {
  const fields = parts.flatMap((part) => (typeof part === 'object' && 'field' in part ? [part.field] : []))
  return [...new Set(fields)]
}

/** Returns the edits of a template for another name of a field: of the names in its placeholders. */
export function renameInTemplate(text: string, from: string, to: string): readonly TextEdit[] {
  return Array.from(text.matchAll(/\{\{\s*([^]*?)\s*\}\}/g)).flatMap(({ 0: placeholder, 1: name, index }) => {
    if (name !== from) return []
    const start = index + placeholder.indexOf(from)
    return [{ start, end: start + from.length, text: to }]
  })
}

/** Returns the value of a field, null if the record has none. */
export function inputValue(inputs: InputValues, field: string): JsonValue {
  return Object.hasOwn(inputs, field) ? (inputs[field] ?? null) : null
}

/** Returns a string unchanged, anything else as JSON (D21). */
export function plainText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Encodes every UTF-8 byte outside the unreserved set `A-Za-z0-9-._~` of RFC 3986 (D21). */
export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
