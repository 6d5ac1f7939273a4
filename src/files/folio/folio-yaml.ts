import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Pair,
} from 'yaml'
import { ContractError, fileError } from '../../errors/service-error.ts'
import { jsonEqual, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { parseYamlFile } from '../../contract/yaml/yaml-file.ts'
import { checkFileSize, MAX_DEPTH, MAX_VALUES, tokensOf, tooDeep } from '../../contract/yaml/yaml-limits.ts'

type Path = readonly (string | number)[]

/** A YAML 1.1 file, as PyYAML reads it. */
export interface FolioYaml {
  /** The name of the file in the sheet. */
  readonly file: string
  readonly value: JsonValue
  /** The lines of keys that occur twice in a map; the last one counts. */
  readonly repeated: readonly { readonly key: string; readonly line: number }[]
  /** The reason why a YAML 1.2 parser reads the text differently; null if it does not. */
  readonly only11: string | null
  /** Returns the line of a key or item, or of its nearest ancestor. */
  lineOf(path: Path): number
}

/**
 * Parses YAML 1.1 with merge keys; of repeated keys the last counts. Dates and binary values are the texts in the file. Throws
 * ContractError with file and line for invalid YAML, and beyond the limits of definition files.
 */
export function parseFolioYaml(bytes: Uint8Array, file: string): FolioYaml {
  checkFileSize(bytes.length, file)
  const fail = (line: number, message: string): never => {
    throw new ContractError(...fileError({ file, line, message }, 'invalid_definition'))
  }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return fail(1, 'the file is not UTF-8 text; save it as UTF-8')
  }
  tokensOf(text, file)
  const counter = new LineCounter()
  const lineAt = (offset: number): number => Math.max(1, counter.linePos(offset).line)
  const reading = new Reading(lineAt)
  let value: JsonValue
  try {
    const document = parseDocument(text, {
      version: '1.1',
      merge: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
      lineCounter: counter,
    })
    const [fault] = document.errors
    if (fault !== undefined) return fail(lineAt(fault.pos[0]), fault.message)
    value = reading.read(document)
  } catch (error) {
    if (error instanceof TooLarge) return fail(error.line, error.message)
    throw error instanceof RangeError ? new ContractError(`${file}: ${tooDeep()}`) : error
  }
  return {
    file,
    value,
    repeated: reading.repeated,
    only11: differenceTo12(text, file, value),
    lineOf: (path) => reading.lineOf(path),
  }
}

/** A file beyond the limits on values and depth. */
class TooLarge extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

class Reading {
  readonly repeated: { readonly key: string; readonly line: number }[] = []
  readonly #lines = new Map<string, number>()
  readonly #lineAt: (offset: number) => number
  #document: Document | null = null
  #values = 0

  constructor(lineAt: (offset: number) => number) {
    this.#lineAt = lineAt
  }

  read(document: Document): JsonValue {
    this.#document = document
    return this.#value(document.contents, [])
  }

  lineOf(path: Path): number {
    for (let length = path.length; length > 0; length -= 1) {
      const line = this.#lines.get(JSON.stringify(path.slice(0, length)))
      if (line !== undefined) return line
    }
    return 1
  }

  #value(node: unknown, path: Path): JsonValue {
    this.#values += 1
    const line = this.#lineOfNode(node) ?? 1
    if (this.#values > MAX_VALUES)
      throw new TooLarge(line, `has more than ${MAX_VALUES} values; make it smaller`)
    if (path.length > MAX_DEPTH) throw new TooLarge(line, tooDeep())
    if (isAlias(node)) return this.#value(node.resolve(this.#document!), path)
    if (isMap(node)) return this.#map(node.items, path)
    if (isSeq(node)) {
      return node.items.map((item, index) => {
        const at = [...path, index]
        this.#note(at, this.#lineOfNode(isPair(item) ? item.key : item))
        return isPair(item) ? this.#map([item], at) : this.#value(item, at)
      })
    }
    return isScalar(node) ? scalarValue(node.value, node.source) : null
  }

  #map(pairs: readonly Pair[], path: Path): JsonObject {
    const own: [string, JsonValue][] = []
    const merged: [string, JsonValue][] = []
    const seen = new Set<string>()
    for (const { key, value } of pairs) {
      const name = keyText(key)
      if (name === '<<') {
        merged.push(...this.#merged(value, path))
        continue
      }
      const line = this.#lineOfNode(key)
      if (seen.has(name)) this.repeated.push({ key: name, line: line ?? 1 })
      seen.add(name)
      this.#note([...path, name], line)
      own.push([name, this.#value(value, [...path, name])])
    }
    // The keys of the map itself count, and of merged maps the first.
    return Object.fromEntries([...merged.toReversed(), ...own])
  }

  #merged(node: unknown, path: Path): [string, JsonValue][] {
    const value = this.#value(node, [...path, '<<'])
    const maps: readonly JsonValue[] = Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
    return maps.flatMap((map) =>
      typeof map === 'object' && map !== null && !Array.isArray(map) ? Object.entries(map as JsonObject) : [],
    )
  }

  #lineOfNode(node: unknown): number | null {
    const range = (node as { readonly range?: readonly number[] | null } | null)?.range
    return range?.[0] === undefined ? null : this.#lineAt(range[0])
  }

  #note(path: Path, line: number | null): void {
    if (line !== null) this.#lines.set(JSON.stringify(path), line)
  }
}

function keyText(key: unknown): string {
  if (!isScalar(key)) return String(key)
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
}

function scalarValue(value: unknown, source: string | undefined): JsonValue {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  return source ?? (value instanceof Date ? value.toISOString() : JSON.stringify(value))
}

function differenceTo12(text: string, file: string, value: JsonValue): string | null {
  try {
    return jsonEqual(parseYamlFile(text, file).value, value) ? null : 'its values are those of YAML 1.1'
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    return error.inFile?.message ?? error.message
  }
}
