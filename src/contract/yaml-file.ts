import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import type { Document, Node } from 'yaml'
import { ContractError } from '../errors/service-error.ts'
import type { JsonValue } from './json.ts'

/** What these limits stop is a file that takes the process down, not one that somebody wrote by hand. */
const MAX_CHARACTERS = 4 * 1024 * 1024
const MAX_DEPTH = 100
const MAX_VALUES = 1_000_000

type Path = readonly (string | number)[]

/** A YAML file of the sheet as plain data, which can still tell where in the file a value came from. */
export interface YamlFile {
  /** The file's name inside the sheet. */
  readonly file: string
  /** JSON values only; every key is an own property, `__proto__` too. */
  readonly value: JsonValue
  /** The 1-based line of the key or list item at `path`, or of its nearest ancestor that the file has. */
  lineOf(path: readonly (string | number)[]): number
  /** Throws a ContractError `<file>:<line>: <message>`. */
  fail(path: readonly (string | number)[], message: string): never
}

/**
 * Reads YAML 1.2 (core schema), one document. Throws ContractError with file and line for syntax errors, keys that
 * are there twice, tags beyond the core schema, values that JSON does not have, and files past the limits on size,
 * depth and aliases.
 */
export function parseYamlFile(text: string, file: string): YamlFile {
  if (text.length > MAX_CHARACTERS) {
    const limit = MAX_CHARACTERS / 1024 / 1024
    throw new ContractError(`${file}: the file is larger than ${limit} MiB; make it smaller`)
  }
  const lines = new LineCounter()
  const document = parse(text, file, lines)
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line)

  const fault = document.errors[0] ?? document.warnings[0]
  if (fault) throw new ContractError(`${file}:${lineAt(fault.pos[0])}: ${faultText(fault, text)}`)

  const lineOf = (path: Path): number => lineAt(offsetOf(document, path))
  const fail = (path: Path, message: string): never => {
    throw new ContractError(`${file}:${lineOf(path)}: ${message}`)
  }
  const value = toJson(document, file)
  const problem = findProblem(value)
  if (problem) fail(problem.path, problem.message)
  return { file, value: value as JsonValue, lineOf, fail }
}

function parse(text: string, file: string, lineCounter: LineCounter): Document.Parsed {
  try {
    return parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      stringKeys: true,
      uniqueKeys: true,
      prettyErrors: false,
      logLevel: 'error',
      resolveKnownTags: false,
      lineCounter,
    })
  } catch (error) {
    // The parser recurses; nesting beyond its stack shows as a RangeError.
    if (error instanceof RangeError) throw new ContractError(`${file}: ${tooDeep()}`)
    throw error
  }
}

function toJson(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    if (error instanceof RangeError) throw new ContractError(`${file}: ${tooDeep()}`)
    if (error instanceof ReferenceError) {
      throw new ContractError(`${file}: ${error.message}`)
    }
    throw error
  }
}

function faultText(fault: { code: string; message: string; pos: [number, number] }, text: string): string {
  if (fault.code === 'MULTIPLE_DOCS') return 'a second document starts here; a file holds one'
  if (fault.code === 'RESOURCE_EXHAUSTION') return tooDeep()
  if (fault.code !== 'DUPLICATE_KEY') return fault.message
  const key = /^[^:\r\n]{1,80}/.exec(text.slice(fault.pos[0], fault.pos[0] + 80))?.[0] ?? ''
  return `the key ${key.trim()} is there twice; keep one`
}

/** Where the deepest node of `path` that the document has starts: for a key the key itself, for an item the item. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step))
      if (!pair) break
      offset = startOf(pair.key) ?? offset
      node = pair.value
    } else if (isSeq(node) && typeof step === 'number' && step < node.items.length) {
      node = node.items[step]
      offset = startOf(node) ?? offset
    } else {
      break
    }
  }
  return offset
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0]
}

interface Problem {
  readonly path: Path
  readonly message: string
}

/** The first value that JSON does not have, or that goes past the limits. Counts aliased values each time. */
function findProblem(root: unknown): Problem | null {
  let count = 0
  const visit = (value: unknown, path: Path): Problem | null => {
    count += 1
    if (count > MAX_VALUES)
      return { path: [], message: `more than ${MAX_VALUES} values; make the file smaller` }
    if (path.length > MAX_DEPTH) return { path, message: tooDeep() }
    if (typeof value === 'string') return stringProblem(value, path)
    if (typeof value === 'number') {
      return Number.isFinite(value) ? null : { path, message: `${value} is not a JSON number` }
    }
    if (value === null || typeof value === 'boolean') return null
    if (Array.isArray(value)) return first(value.entries(), path)
    return first(Object.entries(value as object), path)
  }
  const first = (entries: Iterable<[string | number, unknown]>, path: Path): Problem | null => {
    for (const [step, value] of entries) {
      const problem = typeof step === 'string' ? stringProblem(step, path) : null
      const found = problem ?? visit(value, [...path, step])
      if (found) return found
    }
    return null
  }
  return visit(root, [])
}

function stringProblem(value: string, path: Path): Problem | null {
  return value.isWellFormed() ? null : { path, message: 'a lone surrogate (\\ud800 to \\udfff) is not text' }
}

function tooDeep(): string {
  return `nested more than ${MAX_DEPTH} levels deep`
}
