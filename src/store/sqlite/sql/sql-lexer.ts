/** The kind of a token, as in SQLite's own tokenizer. */
export type SqlTokenKind =
  | 'space'
  | 'comment'
  | 'word'
  | 'quoted-name'
  | 'string'
  | 'blob'
  | 'number'
  | 'placeholder'
  | 'semicolon'
  | 'operator'
  /** A quote without an end; extends to the end of the text. */
  | 'unterminated'
  /** Anything else that SQLite refuses, including the NUL character, to the end of the text. */
  | 'illegal'

export interface SqlToken {
  readonly kind: SqlTokenKind
  /** The text of the token, unchanged. */
  readonly text: string
  /** Offset in the text, in UTF-16 units. */
  readonly start: number
}

const NAME_CHAR = String.raw`[A-Za-z0-9_$\u0080-\uFFFF]`

/** The alternatives in SQLite's order of precedence; every one matches at least one character. */
const PATTERNS: readonly (readonly [SqlTokenKind, string])[] = [
  ['space', String.raw`[ \t\n\f\r][ \t\n\v\f\r]*|\uFEFF`],
  // A line comment ends before the line break; an unclosed block comment at the end of the text. At the end of the text,
  // `/*` is not a comment.
  ['comment', String.raw`--[^\n\0]*|\/\*(?=[^\0])[^\0]*?(?:\*\/|(?=\0)|$)`],
  ['blob', String.raw`[xX]'(?:[0-9a-fA-F]{2})*'`],
  ['illegal', String.raw`[xX]'[^]*`],
  ['word', String.raw`[A-Za-z_\u0080-\uFFFF]${NAME_CHAR}*`],
  ['string', String.raw`'[^'\0]*(?:''[^'\0]*)*'`],
  ['quoted-name', '"[^"\\0]*(?:""[^"\\0]*)*"|`[^`\\0]*(?:``[^`\\0]*)*`|\\[[^\\]\\0]*\\]'],
  ['unterminated', '[\'"`[][^]*'],
  // A number directly followed by letters is illegal, but still one token.
  [
    'number',
    String.raw`(?:0[xX][0-9a-fA-F][0-9a-fA-F_]*|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+\-]?\d[\d_]*)?)${NAME_CHAR}*`,
  ],
  ['placeholder', String.raw`\?\d*|[$@:#](?:::)*${NAME_CHAR}(?:${NAME_CHAR}|::)*(?:\([^ \t\n\v\f\r\0)]*\))?`],
  ['semicolon', ';'],
  ['operator', String.raw`->>?|\|\||<<|>>|<=|>=|<>|!=|==|[-+*\/%&|~<>=(),.]`],
  ['illegal', '[^]+'],
]

const TOKEN = new RegExp(PATTERNS.map(([, pattern]) => `(${pattern})`).join('|'), 'y')

/** Splits a text into tokens where SQLite does; joined they are the text. */
export function sqlTokens(text: string): readonly SqlToken[] {
  const tokens: SqlToken[] = []
  let start = 0
  while (start < text.length) {
    TOKEN.lastIndex = start
    const match = TOKEN.exec(text)
    const pattern = PATTERNS[(match?.findIndex((group, index) => index > 0 && group !== undefined) ?? 0) - 1]
    if (match === null || pattern === undefined) throw new Error('no SQL token matches')
    tokens.push({ kind: pattern[0], text: match[0], start })
    start += match[0].length
  }
  return tokens
}

/** Facts about a text that SQLite would not report. */
export interface SqlScan {
  /** The first token that is not white space or a comment, in capitals when it is a word; empty for none. */
  readonly first: string
  /** The words and operators outside brackets, in capitals. */
  readonly outer: readonly string[]
  /** Whether every bracket has its counterpart. */
  readonly isBalanced: boolean
  /** The text up to its one trailing `;`, or all of it. */
  readonly statement: string
  /** Whether there is any `;`, and whether something other than white space and comments follows the first. */
  readonly semicolon: 'none' | 'trailing' | 'inside'
  /** Number of plain `?`. */
  readonly plainPlaceholders: number
  /** The first placeholder of another kind, or null. */
  readonly otherPlaceholder: string | null
  /** The first token that no statement can have, or null. */
  readonly illegal: SqlToken | null
  /** Whether a comment runs to the end of the text, or begins there, so that it would swallow the SQL after it. */
  readonly endsInComment: boolean
  /**
   * Names that could be tables or columns: words, and quoted names of every kind without their quotes; in small letters.
   */
  readonly names: ReadonlySet<string>
}

/** Scans a text; see {@link SqlScan}. Never throws. */
export function scanSql(text: string): SqlScan {
  const tokens = sqlTokens(text)
  const significant = tokens.filter(({ kind }) => kind !== 'space' && kind !== 'comment')
  const placeholders = significant.filter(({ kind }) => kind === 'placeholder').map((token) => token.text)
  const semicolon = significant.find(({ kind }) => kind === 'semicolon')
  return {
    first: significant[0] === undefined ? '' : capitals(significant[0].text),
    outer: outerTokens(significant),
    isBalanced: isBalanced(significant),
    statement: semicolon === undefined ? text : text.slice(0, semicolon.start),
    semicolon: semicolon === undefined ? 'none' : semicolon === significant.at(-1) ? 'trailing' : 'inside',
    plainPlaceholders: placeholders.filter((placeholder) => placeholder === '?').length,
    otherPlaceholder: placeholders.find((placeholder) => placeholder !== '?') ?? null,
    illegal: significant.find(({ kind }) => kind === 'illegal' || kind === 'unterminated') ?? null,
    endsInComment: endsInComment(tokens),
    names: new Set(significant.flatMap((token) => nameOf(token) ?? [])),
  }
}

function endsInComment(tokens: readonly SqlToken[]): boolean {
  const last = tokens.at(-1)
  if (last?.kind === 'comment') return !/^\/\*[^]*\*\/$/.test(last.text)
  // At its end `/*` is not a comment, but text after it would make it one.
  return last?.text === '*' && tokens.at(-2)?.text === '/'
}

function outerTokens(tokens: readonly SqlToken[]): readonly string[] {
  let depth = 0
  const outer: string[] = []
  for (const { kind, text } of tokens) {
    if (text === ')') depth -= 1
    if (depth === 0 && kind === 'word') outer.push(capitals(text))
    if (text === '(') depth += 1
  }
  return outer
}

function isBalanced(tokens: readonly SqlToken[]): boolean {
  let depth = 0
  for (const { text } of tokens) {
    if (text === '(') depth += 1
    if (text === ')') depth -= 1
    if (depth < 0) return false
  }
  return depth === 0
}

/**
 * Returns the name of a token. A single-quoted string counts, since SQLite takes it for a name where only a name can be.
 */
export function nameOf({ kind, text }: SqlToken): string | null {
  if (kind === 'word') return smallLetters(text)
  if (kind !== 'quoted-name' && kind !== 'string') return null
  const quote = text.charAt(0)
  const inner = text.slice(1, -1)
  return smallLetters(quote === '[' ? inner : inner.replaceAll(quote + quote, quote))
}

/** SQLite folds only ASCII letters in names. */
function smallLetters(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function capitals(text: string): string {
  return text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase())
}
