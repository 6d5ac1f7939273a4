import { isAlias, isMap, isSeq, LineCounter } from 'yaml'
import type { Document } from 'yaml'
import { ContractError, fileError } from '../../errors/service-error.ts'
import type { JsonValue } from '../json/json.ts'
import { parseDocument, YamlError } from './yaml-document.ts'
import { checkFileSize, FILE_LIMITS, tokensOf } from './yaml-limits.ts'
import { keyOf, startOf, YamlValue } from './yaml-value.ts'

/** The most characters of a message with keys and values of the file, which can be long; the advice is at the end. */
const MAX_MESSAGE = 1000
const MESSAGE_END = 300

/** Matches characters that YAML does not allow unescaped; NUL in every second position indicates UTF-16. */
const CONTROL_CHARACTER = /[^\P{Cc}\t\n\r\x80-\x9f]/u

type Path = readonly (string | number)[]

/** A YAML file of the sheet as plain data, with the line of each value. */
export interface YamlFile {
  /** The name of the file inside the sheet. */
  readonly file: string
  /** JSON values only; every key is an own property, also `__proto__`. */
  readonly value: JsonValue
  /** Returns the line, from 1, of the key or list item at `path`, or of its nearest ancestor in the file. */
  lineOf(path: readonly (string | number)[]): number
  /** Throws a ContractError `<file>:<line>: <message>`. */
  fail(path: readonly (string | number)[], message: string): never
}

/**
 * Parses YAML 1.2 (core schema), one document. Throws ContractError with file and line for syntax errors, repeated
 * keys, tags beyond the core schema, values that JSON does not have, and files beyond the limits on size, tokens,
 * depth and aliases (yaml-limits.ts). Takes time in proportion to the text.
 */
export function parseYamlFile(text: string, file: string, limits = FILE_LIMITS): YamlFile {
  checkFileSize(text.length, file, limits.bytes)
  const lines = new LineCounter()
  const failAt = (line: number, message: string): never => {
    throw new ContractError(...fileError({ file, line, message: shorten(message) }, 'invalid_definition'))
  }
  if (!limits.anyCharacter) refuseControlCharacters(text, failAt)
  const tokens = tokensOf(text, file, limits)
  try {
    const document = parseDocument(tokens, lines.addNewLine)
    const content = new YamlValue(document, limits)
    const lineOf = (path: Path): number => lineAt(lines, offsetOf({ document, content }, path))
    return { file, value: content.value, lineOf, fail: (path, message) => failAt(lineOf(path), message) }
  } catch (error) {
    if (error instanceof YamlError) return failAt(lineAt(lines, error.offset), error.message)
    throw error
  }
}

function lineAt(lines: LineCounter, offset: number): number {
  return Math.max(1, lines.linePos(offset).line)
}

function refuseControlCharacters(text: string, failAt: (line: number, message: string) => never): void {
  const offset = text.search(CONTROL_CHARACTER)
  if (offset === -1) return
  const code = text.charCodeAt(offset).toString(16).toUpperCase().padStart(4, '0')
  failAt(
    text.slice(0, offset).split('\n').length,
    `the control character U+${code}, which YAML does not allow; save the file as UTF-8 text`,
  )
}

interface Parsed {
  readonly document: Document.Parsed
  readonly content: YamlValue
}

/** Returns the offset of the deepest existing node of `path`: for a key the key itself, for an item the item. */
function offsetOf({ document, content }: Parsed, path: Path): number {
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  for (const step of path) {
    if (isAlias(node)) node = content.target(node)
    if (isMap(node)) {
      const pair = node.items.find((item) => keyOf(item) === String(step))
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

function shorten(message: string): string {
  if (message.length <= MAX_MESSAGE) return message
  return `${message.slice(0, MAX_MESSAGE - MESSAGE_END)}…${message.slice(-MESSAGE_END)}`
}
