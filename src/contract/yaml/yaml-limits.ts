import { Lexer } from 'yaml'
import { ContractError, fileError } from '../../errors/service-error.ts'

/**
 * The most bytes of a definition file. The limits stop files that would block the server, not ones written by hand: a
 * file is read or refused within a quarter of a second.
 */
export const MAX_FILE_BYTES = 1024 * 1024

/** The most tokens: words, signs, line breaks and indents. A line `key: value` has about eight, `- value` six. */
export const MAX_TOKENS = 125_000

/** The most lines. */
export const MAX_LINES = 50_000

/** The most levels of maps and lists. */
export const MAX_DEPTH = 100

/** The most values without keys, with aliases expanded. */
export const MAX_VALUES = 100_000

/** The most characters of all keys and texts, with aliases expanded. */
export const MAX_CHARACTERS = 1024 * 1024

/** The most directives, such as `%YAML 1.2`; a file of the sheet needs none. */
export const MAX_DIRECTIVES = 10

/** The limits of a YAML text. */
export interface YamlLimits {
  readonly bytes: number
  readonly tokens: number
  readonly lines: number
  readonly values: number
  readonly characters: number
  /** Whether control characters are allowed. */
  readonly anyCharacter: boolean
}

/** The limits of a file of the sheet. */
export const FILE_LIMITS: YamlLimits = {
  bytes: MAX_FILE_BYTES,
  tokens: MAX_TOKENS,
  lines: MAX_LINES,
  values: MAX_VALUES,
  characters: MAX_CHARACTERS,
  anyCharacter: false,
}

/**
 * The limits of a contract in the store. It was validated when it was written, and no later version may refuse it:
 * these exceed all earlier limits, and only protect the memory from a stranger's store.
 */
export const STORED_LIMITS: YamlLimits = {
  bytes: 4 * 1024 * 1024,
  tokens: Infinity,
  lines: Infinity,
  values: 1_000_000,
  characters: Infinity,
  anyCharacter: true,
}

/** Throws ContractError if a file is larger than this, or than {@link MAX_FILE_BYTES}. */
export function checkFileSize(bytes: number, file: string, most = MAX_FILE_BYTES): void {
  if (bytes <= most) return
  throw tooLarge(file, null, `is larger than ${most / 1024 / 1024} MiB; make it smaller`)
}

/**
 * Returns the tokens of a YAML text. Throws ContractError for too many tokens or lines, or brackets nested deeper
 * than MAX_DEPTH; `file` is its name in messages. Takes a tenth of the time of parsing, so that a refused file costs
 * little.
 */
export function tokensOf(text: string, file: string, limits = FILE_LIMITS): readonly string[] {
  if (lineCount(text) > limits.lines) {
    throw tooLarge(file, null, `has more than ${limits.lines} lines; make it smaller`)
  }
  const tokens: string[] = []
  let depth = 0
  for (const token of new Lexer().lex(text)) {
    tokens.push(token)
    if (tokens.length > limits.tokens) throw tooLarge(file, null, `has ${tooManyTokens()}`)
    if (token === '[' || token === '{') depth += 1
    else if (token === ']' || token === '}') depth -= 1
    if (depth > MAX_DEPTH) throw tooLarge(file, lineCount(tokens.join('')), tooDeep())
  }
  return tokens
}

function tooLarge(file: string, line: number | null, message: string): ContractError {
  return new ContractError(...fileError({ file, line, message }, 'definition_too_large'))
}

/** Returns the message for too many tokens. */
export function tooManyTokens(): string {
  return `more than ${MAX_TOKENS} tokens of YAML (a line "key: value" has about eight); make it smaller`
}

function lineCount(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

/** Returns the message for too deep nesting. */
export function tooDeep(): string {
  return `nested more than ${MAX_DEPTH} levels deep`
}
