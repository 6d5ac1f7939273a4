import { isJsonObject } from '../json/json.ts'
import type { JsonObject, JsonValue } from '../json/json.ts'
import { nearest } from '../nearest.ts'
import { showValue } from '../json/show-value.ts'
import type { YamlFile } from '../yaml/yaml-file.ts'

/** The structure of the value of a key in the standard. */
export type Shape =
  | 'any'
  | 'string'
  | 'number'
  | 'integer'
  | 'boolean'
  | { readonly oneOf: readonly string[] }
  | { readonly listOf: Shape }
  | MapShape
  /** The shapes of lists, maps and texts; null refuses that form. */
  | { readonly list: Shape | null; readonly map: Shape | null; readonly text: boolean }

export interface MapShape {
  readonly keys: Readonly<Record<string, Shape>>
  /** The required keys. */
  readonly required?: readonly string[]
  /**
   * The version from which the standard refuses other keys. For 3.1, `required` also applies only from then on. If
   * absent, other keys are always allowed.
   */
  readonly closedSince?: '3.0' | '3.1'
}

export type Path = readonly (string | number)[]

/** The facts about the document that a check needs. */
export interface ShapeContext {
  readonly file: YamlFile
  /** False for ODCS v3.0.x. */
  readonly since31: boolean
  /** Whether it was validated before: limits and expensive checks are then skipped. */
  readonly stored: boolean
  /** The work that the patterns of the contract have used of their limits. */
  readonly work: PatternWork
}

/** The counters of a contract while it is read. */
export interface PatternWork {
  /** The compiled patterns. */
  readonly patterns: Set<string>
  /** Their parts, with repetitions expanded. */
  compiled: number
  /** The sum of characters of closed lists times the parts of their pattern. */
  matched: number
}

/**
 * Checks a value against a shape. Throws ContractError at the first error. Keys that start with `x-` are allowed
 * everywhere (D4); null means that the key is absent, as in the documentation of the standard.
 */
export function checkShape(value: JsonValue, shape: Shape, path: Path, context: ShapeContext): void {
  if (typeof shape === 'string') return checkSimple(value, shape, path, context)
  if ('oneOf' in shape) {
    if (typeof value === 'string' && shape.oneOf.includes(value)) return
    return context.file.fail(path, unknownWord(at(path), value, shape.oneOf))
  }
  if ('listOf' in shape) return checkList(value, shape.listOf, path, context)
  if ('keys' in shape) return checkMap(value, shape, path, context)
  if (typeof value === 'string' && shape.text) return
  if (Array.isArray(value) && shape.list) return checkShape(value, shape.list, path, context)
  if (isJsonObject(value) && shape.map) return checkShape(value, shape.map, path, context)
  const forms = [shape.text && 'a text', shape.list && 'a list', shape.map && 'a map of keys'].filter(Boolean)
  context.file.fail(path, `${at(path)} must be ${forms.join(' or ')}, but is ${showValue(value)}`)
}

/** Checks that a value is a map with known keys and the required ones, but not their values. */
export function checkKeys(value: JsonValue, shape: MapShape, path: Path, context: ShapeContext): JsonObject {
  if (!isJsonObject(value)) {
    return context.file.fail(path, `${at(path)} must be a map of keys, but is ${showValue(value)}`)
  }
  const strict = shape.closedSince === '3.0' || (shape.closedSince === '3.1' && context.since31)
  if (!strict) return value
  for (const key of Object.keys(value)) {
    if (key.startsWith('x-') || Object.hasOwn(shape.keys, key)) continue
    context.file.fail([...path, key], unknownKey(key, Object.keys(shape.keys), at(path)))
  }
  for (const key of shape.required ?? []) {
    // A key with null is present if the standard allows any value.
    const there = shape.keys[key] === 'any' ? Object.hasOwn(value, key) : own(value, key) !== null
    if (!there) context.file.fail(path, `${at(path)} lacks the key "${key}"`)
  }
  return value
}

/** Returns the value of a key, null if it is absent. */
export function own(map: JsonObject, key: string): JsonValue {
  return Object.hasOwn(map, key) ? (map[key] ?? null) : null
}

/** Returns a path for messages: `schema[0].properties[2]`, or `the contract` for its root. */
export function at(path: Path): string {
  if (path.length === 0) return 'the contract'
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index > 0 ? `.${step}` : step))
    .join('')
}

function checkMap(value: JsonValue, shape: MapShape, path: Path, context: ShapeContext): void {
  for (const [key, item] of Object.entries(checkKeys(value, shape, path, context))) {
    const known = Object.hasOwn(shape.keys, key) ? shape.keys[key] : undefined
    if (known && item !== null) checkShape(item, known, [...path, key], context)
  }
}

function checkList(value: JsonValue, shape: Shape, path: Path, context: ShapeContext): void {
  if (!Array.isArray(value)) context.file.fail(path, `${at(path)} must be a list, but is ${showValue(value)}`)
  for (const [index, item] of (value as readonly JsonValue[]).entries()) {
    checkShape(item, shape, [...path, index], context)
  }
}

type Simple = 'any' | 'string' | 'number' | 'integer' | 'boolean'

function checkSimple(value: JsonValue, shape: Simple, path: Path, context: ShapeContext): void {
  const fits = shape === 'any' || (shape === 'integer' ? Number.isSafeInteger(value) : typeof value === shape)
  if (fits) return
  const quotable = shape === 'string' && (typeof value === 'number' || typeof value === 'boolean')
  const hint = quotable ? '; put it in quotes' : ''
  const article = shape === 'integer' ? 'an' : 'a'
  context.file.fail(path, `${at(path)} must be ${article} ${shape}, but is ${showValue(value)}${hint}`)
}

function unknownKey(key: string, known: readonly string[], place: string): string {
  const meant = nearest(key, known)
  const advice = meant
    ? `did you mean "${meant}"?`
    : `the standard has no such key here; names of your own start with "x-", or go into customProperties`
  return `unknown key ${showValue(key)} in ${place}; ${advice}`
}

function unknownWord(place: string, value: JsonValue, known: readonly string[]): string {
  const meant = typeof value === 'string' ? nearest(value, known) : null
  const advice = meant ? `did you mean "${meant}"?` : `use one of ${known.join(', ')}`
  return `${place} is ${showValue(value)}; ${advice}`
}
