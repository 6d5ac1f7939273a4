import { Lexer } from 'yaml'
import { ContractError } from '../../errors/service-error.ts'

/**
 * What a definition file may be: these stop a file that keeps the server busy, not one that somebody wrote by hand.
 * With all of them a file is read, or refused, within a quarter of a second.
 */
export const MAX_FILE_BYTES = 1024 * 1024

/** Words, signs, line breaks and indents, as YAML counts them: a line `key: value` is about eight, `- value` six. */
export const MAX_TOKENS = 125_000

/** Texts of many lines cost by the line. */
export const MAX_LINES = 50_000

/** Maps and lists inside each other. */
export const MAX_DEPTH = 100

/** Keys are not counted. What an alias stands for is counted each time. */
export const MAX_VALUES = 100_000

/** Characters of all keys and texts together. What an alias stands for is counted each time. */
export const MAX_CHARACTERS = 1024 * 1024

/** Lines such as `%YAML 1.2`, of which a file of the sheet needs none. */
export const MAX_DIRECTIVES = 10

/** How large a text may be that is read as YAML. */
export interface YamlLimits {
  readonly bytes: number
  readonly tokens: number
  readonly lines: number
  readonly values: number
  readonly characters: number
  /** Whether control characters are let through. */
  readonly anyCharacter: boolean
}

/** Of a file of the sheet. */
export const FILE_LIMITS: YamlLimits = {
  bytes: MAX_FILE_BYTES,
  tokens: MAX_TOKENS,
  lines: MAX_LINES,
  values: MAX_VALUES,
  characters: MAX_CHARACTERS,
  anyCharacter: false,
}

/**
 * Of a contract that the store keeps. It passed when it was written, and no later version may find it too large: these
 * are above all that there ever were, and only keep a stranger's store from taking all memory.
 */
export const STORED_LIMITS: YamlLimits = {
  bytes: 4 * 1024 * 1024,
  tokens: Infinity,
  lines: Infinity,
  values: 1_000_000,
  characters: Infinity,
  anyCharacter: true,
}

/** Throws ContractError where a file is larger than this, or than {@link MAX_FILE_BYTES}. */
export function checkFileSize(bytes: number, file: string, most = MAX_FILE_BYTES): void {
  if (bytes <= most) return
  throw new ContractError(
    `${file}: the file is larger than ${most / 1024 / 1024} MiB; make it smaller`,
    'definition_too_large',
  )
}

/**
 * The tokens of a YAML text. Throws ContractError when tokens or lines are more than may be, or brackets nest deeper
 * than MAX_DEPTH; `file` is what messages call it. Costs a tenth of parsing them, so that a file that is refused costs little.
 */
export function tokensOf(text: string, file: string, limits = FILE_LIMITS): readonly string[] {
  if (lineCount(text) > limits.lines) {
    throw new ContractError(
      `${file}: more than ${limits.lines} lines; make it smaller`,
      'definition_too_large',
    )
  }
  const tokens: string[] = []
  let depth = 0
  for (const token of new Lexer().lex(text)) {
    tokens.push(token)
    if (tokens.length > limits.tokens)
      throw new ContractError(`${file}: ${tooManyTokens()}`, 'definition_too_large')
    if (token === '[' || token === '{') depth += 1
    else if (token === ']' || token === '}') depth -= 1
    if (depth > MAX_DEPTH)
      throw new ContractError(`${file}:${lineCount(tokens.join(''))}: ${tooDeep()}`, 'definition_too_large')
  }
  return tokens
}

/** What messages say of more tokens than may be. */
export function tooManyTokens(): string {
  return `more than ${MAX_TOKENS} tokens of YAML (a line "key: value" has about eight); make it smaller`
}

function lineCount(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

/** What messages say of a value inside too many others. */
export function tooDeep(): string {
  return `nested more than ${MAX_DEPTH} levels deep`
}
