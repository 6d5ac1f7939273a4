import { Composer, Parser } from 'yaml'
import type { CST, Document } from 'yaml'
import { MAX_DIRECTIVES, tooDeep } from './yaml-limits.ts'

/** The position and message of a YAML error. Only used while reading a file. */
export class YamlError extends Error {
  /** The index of the first invalid character. */
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

/**
 * Parses the tokens of a YAML 1.2 text (core schema), one document; `onLine` receives the offset of each line. Throws
 * YamlError at the first error. Repeated keys are not detected: the parser compares each with each. With
 * `keepSourceTokens`, nodes have their syntax elements.
 */
export function parseDocument(
  tokens: readonly string[],
  onLine: (offset: number) => void,
  keepSourceTokens = false,
): Document.Parsed {
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
    resolveKnownTags: false,
    keepSourceTokens,
  })
  stopAtFirstError(composer)
  let document: Document.Parsed | null = null
  try {
    for (const next of composer.compose(syntaxOf(tokens, onLine), true)) {
      if (document !== null) {
        throw new YamlError(next.range[0], 'a second document starts here; a file holds one')
      }
      document = next
    }
  } catch (error) {
    // The parser is recursive; nesting beyond its stack is a RangeError.
    throw error instanceof RangeError ? new YamlError(0, tooDeep()) : error
  }
  if (document === null) throw new Error('the YAML parser gave no document')
  const fault = document.errors[0] ?? document.warnings[0]
  if (fault !== undefined) throw new YamlError(fault.pos[0], fault.message)
  return document
}

/** The position of an error, in the forms of the parser. */
type ErrorSource = number | readonly number[] | { readonly offset: number }

/** The handler that the composer calls for each error. */
type ErrorHandler = (source: ErrorSource, code: string, message: string) => void

/**
 * Stops at the first error. The composer continues after an error and makes an object with a stack trace for each; a
 * text can have a million. The member that is replaced is private in its types, so errors in the document are checked
 * as well, should it be renamed.
 */
function stopAtFirstError(composer: Composer): void {
  let first: YamlError | undefined
  const onError: ErrorHandler = (source, code, message) => {
    // It catches errors inside a collection, and calls this again.
    first ??= new YamlError(offsetOf(source), code === 'RESOURCE_EXHAUSTION' ? tooDeep() : message)
    throw first
  }
  Object.assign(composer, { onError })
}

function offsetOf(source: ErrorSource): number {
  if (typeof source === 'number') return source
  return 'offset' in source ? source.offset : (source[0] ?? 0)
}

/** Returns the syntax elements of the tokens. Throws YamlError if they are invalid. */
function* syntaxOf(tokens: readonly string[], onLine: (offset: number) => void): Generator<CST.Token> {
  const parser = new Parser(onLine)
  onLine(0)
  let directives = 0
  for (const token of tokens) {
    for (const part of parser.next(token)) yield checked(part)
  }
  for (const part of parser.end()) yield checked(part)

  function checked(part: CST.Token): CST.Token {
    if (part.type === 'error') throw new YamlError(part.offset, part.message)
    if (part.type === 'directive') directives += 1
    if (directives > MAX_DIRECTIVES) {
      throw new YamlError(part.offset, `more than ${MAX_DIRECTIVES} directives; leave them out`)
    }
    return part
  }
}
