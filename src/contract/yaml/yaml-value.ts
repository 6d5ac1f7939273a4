import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { Alias, Document, Node, Pair, YAMLMap } from 'yaml'
import type { JsonValue } from '../json/json.ts'
import { showValue } from '../json/show-value.ts'
import { YamlError } from './yaml-document.ts'
import { FILE_LIMITS, MAX_DEPTH, tooDeep, type YamlLimits } from './yaml-limits.ts'

/** The value of an anchor, and what it counts for each alias. */
interface Anchored {
  readonly node: Node
  readonly value: JsonValue
  readonly values: number
  readonly characters: number
  /** The number of levels of maps and lists in it. */
  readonly height: number
}

/**
 * Converts a document to plain JSON values; every key is an own property, also `__proto__`, and values of aliases are
 * shared. Throws YamlError for repeated keys, values that JSON does not have, undefined or recursive aliases, and
 * content beyond the limits. Takes time in proportion to the document.
 */
export class YamlValue {
  readonly value: JsonValue
  readonly #limits: YamlLimits
  readonly #anchors = new Map<string, Anchored | 'open'>()
  readonly #targets = new Map<Alias, Anchored>()
  #values = 0
  #characters = 0
  /** The number of levels of the last converted value. */
  #height = 0

  constructor(document: Document.Parsed, limits = FILE_LIMITS) {
    this.#limits = limits
    this.value = this.#convert(document.contents, 0)
  }

  /** Returns the node of an alias. */
  target(alias: Alias): Node | undefined {
    return this.#targets.get(alias)?.node
  }

  /** Returns the value of an alias. */
  valueOf(alias: Alias): JsonValue | undefined {
    return this.#targets.get(alias)?.value
  }

  #convert(node: unknown, depth: number): JsonValue {
    if (isAlias(node)) return this.#repeat(node, depth)
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined
    if (anchor === undefined) return this.#plain(node, depth)
    this.#anchors.set(anchor, 'open')
    return this.#anchored(anchor, node as Node, () => this.#plain(node, depth))
  }

  #anchored(anchor: string, node: Node, convert: () => JsonValue): JsonValue {
    const [values, characters] = [this.#values, this.#characters]
    const value = convert()
    this.#anchors.set(anchor, {
      node,
      value,
      values: this.#values - values,
      characters: this.#characters - characters,
      height: this.#height,
    })
    return value
  }

  #plain(node: unknown, depth: number): JsonValue {
    this.#count(node, 1, 0)
    if (depth > MAX_DEPTH) throw errorAt(node, tooDeep())
    this.#height = 0
    if (isMap(node)) return this.#map(node, depth)
    if (isSeq(node)) return this.#sequence(node.items, depth)
    return this.#scalar(node, isScalar(node) ? node.value : null)
  }

  #map(node: YAMLMap, depth: number): JsonValue {
    const map: Record<string, JsonValue> = {}
    const seen = new Set<string>()
    let height = 0
    for (const pair of node.items) {
      const key = this.#key(pair)
      if (seen.has(key)) throw errorAt(pair.key, `the key ${showKey(key)} is there twice; keep one`)
      seen.add(key)
      setOwn(map, key, this.#convert(pair.value, depth + 1))
      height = Math.max(height, this.#height)
    }
    this.#height = height + 1
    return map
  }

  #key(pair: Pair): string {
    const text = keyOf(pair)
    const anchor = isScalar(pair.key) ? pair.key.anchor : undefined
    this.#height = 0
    if (anchor === undefined) this.#text(pair.key, text)
    else this.#anchored(anchor, pair.key as Node, () => this.#text(pair.key, text))
    return text
  }

  #sequence(items: readonly unknown[], depth: number): JsonValue {
    let height = 0
    const list = items.map((item) => {
      const value = this.#convert(item, depth + 1)
      height = Math.max(height, this.#height)
      return value
    })
    this.#height = height + 1
    return list
  }

  #scalar(node: unknown, value: unknown): JsonValue {
    if (typeof value === 'string') return this.#text(node, value)
    if (typeof value === 'number') {
      if (Number.isFinite(value)) return value
      throw errorAt(node, `${value} is not a JSON number`)
    }
    if (typeof value === 'boolean') return value
    if (value === null || value === undefined) return null
    throw errorAt(node, `${showValue(value)} is no value of JSON`)
  }

  #text(node: unknown, text: string): string {
    this.#count(node, 0, text.length)
    if (text.isWellFormed()) return text
    throw errorAt(node, 'a lone surrogate (\\ud800 to \\udfff) is not text')
  }

  #repeat(alias: Alias, depth: number): JsonValue {
    const anchored = this.#anchors.get(alias.source)
    const name = showKey(alias.source)
    if (anchored === undefined) throw errorAt(alias, `the alias *${name} has no anchor &${name} before it`)
    if (anchored === 'open') throw errorAt(alias, `the alias *${name} stands inside what it stands for`)
    this.#count(alias, anchored.values, anchored.characters)
    if (depth + anchored.height > MAX_DEPTH + 1) throw errorAt(alias, tooDeep())
    this.#targets.set(alias, anchored)
    this.#height = anchored.height
    return anchored.value
  }

  #count(node: unknown, values: number, characters: number): void {
    this.#values += values
    this.#characters += characters
    const { values: mostValues, characters: mostCharacters } = this.#limits
    if (this.#values > mostValues) {
      throw errorAt(
        node,
        `more than ${mostValues} values, with what aliases stand for; make the file smaller`,
      )
    }
    if (this.#characters > mostCharacters) {
      throw errorAt(
        node,
        `more than ${mostCharacters} characters, with what aliases stand for; make the file smaller`,
      )
    }
  }
}

/** Returns the start of a node in the text. */
export function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0]
}

/** Returns the key of a pair; the parser allows only text scalars. */
export function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : ''
}

function setOwn(map: Record<string, JsonValue>, key: string, value: JsonValue): void {
  // A plain assignment of this key would set the object's prototype.
  if (key !== '__proto__') map[key] = value
  else Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true })
}

function errorAt(node: unknown, message: string): YamlError {
  return new YamlError(startOf(node) ?? 0, message)
}

function showKey(key: string): string {
  return key.length > 80 ? `${key.slice(0, 80)}…` : key
}
