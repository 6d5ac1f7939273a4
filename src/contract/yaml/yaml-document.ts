import { Composer, Parser } from 'yaml'
import type { CST, Document } from 'yaml'
import { MAX_DIRECTIVES, tooDeep } from './yaml-limits.ts'

/** Where a text is no YAML, and why. Never leaves the reading of a file. */
export class YamlFault extends Error {
  /** Index of the first character that is at fault. */
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

/**
 * Parses the tokens of a YAML 1.2 text (core schema), one document; `onLine` is told where each line starts. Throws YamlFault at the first
 * fault. Whether keys are there twice is not looked at: the parser compares each with each.
 */
export function parseDocument(tokens: readonly string[], onLine: (offset: number) => void): Document.Parsed {
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
    resolveKnownTags: false,
  })
  stopAtFirstFault(composer)
  let document: Document.Parsed | null = null
  try {
    for (const next of composer.compose(syntaxOf(tokens, onLine), true)) {
      if (document !== null) {
        throw new YamlFault(next.range[0], 'a second document starts here; a file holds one')
      }
      document = next
    }
  } catch (error) {
    // The parser recurses; nesting beyond its stack shows as a RangeError.
    throw error instanceof RangeError ? new YamlFault(0, tooDeep()) : error
  }
  if (document === null) throw new Error('the YAML parser gave no document')
  const fault = document.errors[0] ?? document.warnings[0]
  if (fault !== undefined) throw new YamlFault(fault.pos[0], fault.message)
  return document
}

/** Where a fault is, in the forms in which the parser says it. */
type FaultSource = number | readonly number[] | { readonly offset: number }

/** What the composer calls for each fault. */
type FaultHandler = (source: FaultSource, code: string, message: string) => void

/**
 * The composer goes on after a fault and makes an error of each, with a stack trace; a text can have a million. The
 * member it calls is private in its types, and errors in the document are looked at as well, should it be renamed.
 */
function stopAtFirstFault(composer: Composer): void {
  let first: YamlFault | undefined
  const onError: FaultHandler = (source, code, message) => {
    // It catches errors of what is inside a collection, and calls this again.
    first ??= new YamlFault(offsetOf(source), code === 'RESOURCE_EXHAUSTION' ? tooDeep() : message)
    throw first
  }
  Object.assign(composer, { onError })
}

function offsetOf(source: FaultSource): number {
  if (typeof source === 'number') return source
  return 'offset' in source ? source.offset : (source[0] ?? 0)
}

/** The parts of the text that tokens make. Throws YamlFault where they make none. */
function* syntaxOf(tokens: readonly string[], onLine: (offset: number) => void): Generator<CST.Token> {
  const parser = new Parser(onLine)
  onLine(0)
  let directives = 0
  for (const token of tokens) {
    for (const part of parser.next(token)) yield checked(part)
  }
  for (const part of parser.end()) yield checked(part)

  function checked(part: CST.Token): CST.Token {
    if (part.type === 'error') throw new YamlFault(part.offset, part.message)
    if (part.type === 'directive') directives += 1
    if (directives > MAX_DIRECTIVES) {
      throw new YamlFault(part.offset, `more than ${MAX_DIRECTIVES} directives; leave them out`)
    }
    return part
  }
}
