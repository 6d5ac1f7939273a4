import { isJsonObject } from '../../../../contract/json/json.ts'
import type { JsonValue } from '../../../../contract/json/json.ts'
import type { InputValues } from '../../../definition/derivation-kind.ts'
import { fieldsOf, inputValue, parseTemplate, plainText } from '../../../definition/template.ts'
import type { FieldSlot, TemplateScope } from '../../../definition/template.ts'
import { parseJson } from '../../../transport/response/parse-json.ts'

/** The template of a JSON body: JSON whose strings can contain placeholders (H2, D21). */
export type BodyTemplate =
  | { readonly kind: 'literal'; readonly value: JsonValue }
  /** A string that is exactly one placeholder: the value itself, its type kept. */
  | { readonly kind: 'value'; readonly field: string }
  /** A string with placeholders and more: text. */
  | { readonly kind: 'text'; readonly parts: readonly (string | FieldSlot)[] }
  | { readonly kind: 'array'; readonly items: readonly BodyTemplate[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, BodyTemplate])[] }

/** Reads `body_template`. Calls `scope.fail` for invalid JSON and for invalid placeholders. */
export function parseBodyTemplate(template: JsonValue, scope: TemplateScope): BodyTemplate {
  return parseNode(typeof template === 'string' ? structureOf(template, scope) : template, scope)
}

/**
 * Returns the structure of a text template. A placeholder outside quotes is quoted, which makes it a string that is exactly one
 * placeholder; one inside quotes is part of its string. So both forms of a template mean the same, and the output is JSON whatever the
 * values are.
 */
function structureOf(text: string, scope: TemplateScope): JsonValue {
  const asStructure = parseJson(text)
  if (asStructure !== undefined) return asStructure
  // Quotes alone would allow a placeholder in place of a key; null shows that it is a value.
  const parts = parseTemplate(text, scope)
  const withNulls = parts.map((part) => (typeof part === 'string' ? part : 'null')).join('')
  const structure = parseJson(withNulls) === undefined ? undefined : parseJson(quoteBare(parts))
  if (structure !== undefined) return structure
  return scope.fail('body_template is text that is not JSON, even with its placeholders filled; write JSON')
}

function quoteBare(parts: readonly (string | FieldSlot)[]): string {
  let json = ''
  let inString = false
  for (const part of parts) {
    if (typeof part === 'string') {
      json += part
      const quotes = part.match(/\\.|"/gs) ?? []
      if (quotes.filter((match) => match === '"').length % 2 === 1) inString = !inString
    } else {
      const placeholder = `{{ ${part.field} }}`
      json += inString ? placeholder : `"${placeholder}"`
    }
  }
  return json
}

function parseNode(node: JsonValue, scope: TemplateScope): BodyTemplate {
  if (typeof node === 'string') return parseText(node, scope)
  if (Array.isArray(node)) {
    return { kind: 'array', items: (node as readonly JsonValue[]).map((item) => parseNode(item, scope)) }
  }
  if (!isJsonObject(node)) return { kind: 'literal', value: node }
  const entries = Object.entries(node).map(([key, value]) => {
    refuseSurrogates(key, scope)
    if (key.includes('{{')) {
      scope.fail(`body_template has a placeholder in the key "${key}"; placeholders are for values`)
    }
    return [key, parseNode(value, scope)] as const
  })
  return { kind: 'object', entries }
}

/** Escapes can contain characters that a YAML file cannot; text without canonical JSON (RFC 8785) has no input hash. */
function refuseSurrogates(text: string, scope: TemplateScope): void {
  if (!text.isWellFormed()) {
    scope.fail('body_template has a lone surrogate (\\ud800 to \\udfff), which is no character; take it out')
  }
}

function parseText(text: string, scope: TemplateScope): BodyTemplate {
  refuseSurrogates(text, scope)
  const parts = parseTemplate(text, scope)
  const [first] = parts
  if (parts.length === 1 && typeof first === 'object') return { kind: 'value', field: first.field }
  return parts.some((part) => typeof part === 'object')
    ? { kind: 'text', parts }
    : { kind: 'literal', value: text }
}

/** Returns the fields that placeholders of a body name. */
export function bodyFields(template: BodyTemplate): readonly string[] {
  switch (template.kind) {
    case 'literal':
      return []
    case 'value':
      return [template.field]
    case 'text':
      return fieldsOf(template.parts)
    case 'array':
      return template.items.flatMap(bodyFields)
    case 'object':
      return template.entries.flatMap(([, value]) => bodyFields(value))
  }
}

/** Fills the inputs into a body; a null stays null, and inside longer text becomes the text `null` (D21, D22). */
export function renderBody(template: BodyTemplate, inputs: InputValues): JsonValue {
  switch (template.kind) {
    case 'literal':
      return template.value
    case 'value':
      return inputValue(inputs, template.field)
    case 'text':
      return template.parts
        .map((part) => (typeof part === 'string' ? part : plainText(inputValue(inputs, part.field))))
        .join('')
    case 'array':
      return template.items.map((item) => renderBody(item, inputs))
    case 'object':
      return Object.fromEntries(template.entries.map(([key, value]) => [key, renderBody(value, inputs)]))
  }
}
