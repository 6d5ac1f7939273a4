import { Document, isCollection, isScalar, isSeq, Scalar, visit } from 'yaml'
import type { CST } from 'yaml'
import { isJsonObject, type JsonValue } from '../../json/json.ts'
import type { YamlSource } from './yaml-source.ts'

/** The habits of a file, which new text follows. */
export interface YamlStyle {
  /** Whether lists are indented more than the key before them. */
  readonly indentSeq: boolean
  readonly singleQuote: boolean
  /** Whether the whole file is written as JSON. */
  readonly json: boolean
}

/** Characters that a YAML file must not or should not have as they are; in double quotes they can be escaped. */
const ESCAPED = /[^\P{Cc}\t\n\r]|[\u2028\u2029\uFEFF]/gu

/** The most characters of a list of short values on one line. */
const MAX_LINE = 60

/** Returns the habits of a text. */
export function styleOf({ document, text }: YamlSource): YamlStyle {
  let indentSeq: boolean | null = null
  visit(document, {
    Pair: (_, { key, value }) => {
      const token = isSeq(value) ? value.srcToken : undefined
      if (token?.type !== 'block-seq' || !isScalar(key) || key.srcToken === undefined) return undefined
      indentSeq = columnIn(text, token.offset) > columnIn(text, key.srcToken.offset)
      return visit.BREAK
    },
  })
  const quotes = text.match(/(?<=[\s[{,])(?:'[^'\n]*'|"[^"\n]*")(?=[\s,:\]}]|$)/g) ?? []
  const single = quotes.filter((quoted) => quoted.startsWith("'")).length
  return {
    indentSeq: indentSeq ?? true,
    singleQuote: single * 2 >= quotes.length,
    json: /^\uFEFF?\s*\{\s*"/.test(text),
  }
}

function columnIn(text: string, offset: number): number {
  return offset - text.lastIndexOf('\n', offset - 1) - 1
}

/** Returns a value as lines without indentation, separated by `\n` and without one at the end. */
export function blockText(value: JsonValue, style: YamlStyle): string {
  const document = documentOf(value)
  visit(document, {
    Scalar: (_, node) => chooseBlock(node),
    Seq: (_, node) => {
      const texts = node.items.map((item) => (isScalar(item) ? JSON.stringify(item.value) : null))
      const isShort = texts.every((text) => text !== null) && texts.join(', ').length <= MAX_LINE
      if (isShort) node.flow = true
    },
  })
  return textOf(document, style)
}

/** Returns a value on one line; `json` writes it as JSON. */
export function inlineText(
  value: JsonValue,
  style: YamlStyle,
  { json }: Pick<YamlStyle, 'json'> = style,
): string {
  if (json) return escaped(jsonText(value))
  // Within brackets, more texts need quotes.
  const document = documentOf([value])
  visit(document, {
    Scalar: (_, node) => quoteUnusual(node),
    Collection: (_, node) => {
      node.flow = true
    },
  })
  return textOf(document, style).slice(1, -1).trim()
}

/** Returns a key and its value as {@link inlineText} does. */
export function inlinePair(
  key: string,
  value: JsonValue,
  style: YamlStyle,
  { json }: Pick<YamlStyle, 'json'> = style,
): string {
  return inlineText({ [key]: value }, style, { json })
    .slice(1, -1)
    .trim()
}

/** Returns JSON with spaces after `,` and `:`. */
function jsonText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(jsonText).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${jsonText(member)}`)
    .join(', ')}}`
}

/** Returns a text or another plain value, in the form of the one that it replaces; lines are separated by `\n` and have no indentation. */
export function scalarText(
  value: JsonValue,
  style: YamlStyle,
  { like, inFlow }: { readonly like: CST.Token | undefined; readonly inFlow: boolean },
): string {
  const isUnusual = typeof value === 'string' && hasUnusual(value)
  const document = documentOf(inFlow ? [value] : { k: value })
  visit(document, {
    Scalar: (role, node) => {
      if (role === 'key') return
      const type = typeof value === 'string' ? typeLike(like, inFlow) : undefined
      if (type !== undefined) node.type = type
      if (inFlow) quoteUnusual(node)
      else if (type !== Scalar.BLOCK_FOLDED || isUnusual) chooseBlock(node)
    },
    Seq: (_, node) => {
      node.flow = true
    },
  })
  const text = textOf(document, style)
  return inFlow ? text.slice(1, -1).trim() : text.slice('k: '.length)
}

/** Returns a key, in the form of the one that it replaces. */
export function keyText(key: string, style: YamlStyle, like: CST.Token | undefined): string {
  return scalarText(key, style, { like, inFlow: true })
}

function typeLike(token: CST.Token | undefined, inFlow: boolean): Scalar.Type | undefined {
  switch (token?.type) {
    case 'single-quoted-scalar':
      return Scalar.QUOTE_SINGLE
    case 'double-quoted-scalar':
      return Scalar.QUOTE_DOUBLE
    case 'block-scalar':
      if (inFlow) return undefined
      return token.props.some((prop) => 'source' in prop && prop.source.startsWith('>'))
        ? Scalar.BLOCK_FOLDED
        : Scalar.BLOCK_LITERAL
    default:
      return undefined
  }
}

/** Writes a text of several lines as such, where that is safe, and others in quotes if they need them. */
function chooseBlock(node: Scalar): void {
  const { value } = node
  if (typeof value !== 'string') return
  // The first line gives the indentation, and the parser drops line ends other than LF.
  const isPlainText = /^\S(?:[^]*\S)?\n?$/.test(value) && !value.includes('\r') && !hasUnusual(value)
  if (value.includes('\n')) node.type = isPlainText ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE
  else quoteUnusual(node)
}

function quoteUnusual(node: Scalar): void {
  if (typeof node.value !== 'string') return
  if (hasUnusual(node.value) || /[\n\r\t]/.test(node.value)) node.type = Scalar.QUOTE_DOUBLE
  // Patterns such as human:* need no quotes, but people and other programs expect them.
  else if (/^\S*[:*]\S*$/.test(node.value)) node.type ??= Scalar.QUOTE_SINGLE
}

function hasUnusual(text: string): boolean {
  return text.search(ESCAPED) !== -1
}

function escaped(text: string): string {
  return text.replace(ESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function documentOf(value: JsonValue): Document {
  return new Document(value, { version: '1.2', schema: 'core', aliasDuplicateObjects: false })
}

function textOf(document: Document, { indentSeq, singleQuote }: YamlStyle): string {
  const text = document.toString({
    lineWidth: 0,
    indent: 2,
    indentSeq,
    // `false` would never use single quotes, also where a text had them.
    singleQuote: singleQuote ? true : null,
    flowCollectionPadding: false,
    blockQuote: 'literal',
  })
  return escaped(text.replace(/\n$/, ''))
}

/** Returns lines with this indentation and line break; the first line and empty ones keep theirs. */
export function indented(text: string, columns: number, eol: string): string {
  return text
    .split('\n')
    .join(eol)
    .replaceAll(/(?<=\n)(?=[^\r\n])/g, ' '.repeat(columns))
}

/** Whether a value is written in lines of its own: a collection that has members. */
export function isNested(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

/** Whether the text of {@link blockText} for a collection is on one line after its key. */
export function isOneLine(value: JsonValue, style: YamlStyle): boolean {
  const node = documentOf(value).contents
  return !isCollection(node) || /^[[{]/.test(blockText(value, style))
}
