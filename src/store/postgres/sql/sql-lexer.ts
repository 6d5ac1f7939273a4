/** The kind of a token, as in PostgreSQL's own scanner (16 and later, with standard_conforming_strings). */
export type SqlTokenKind =
  | 'space'
  | 'comment'
  | 'word'
  | 'quoted-name'
  | 'string'
  | 'number'
  /** `?`, which PostgreSQL would take for an operator, and `$1`. */
  | 'placeholder'
  | 'semicolon'
  /** One character, even of longer operators: only the beginnings of comments matter. */
  | 'operator'
  /** A quote or comment without an end; extends to the end of the text. */
  | 'unterminated'
  /** Anything else, to the end of the text: what PostgreSQL refuses, dollar quotes, and Unicode escapes in `U&"…"`. */
  | 'illegal'

export interface SqlToken {
  readonly kind: SqlTokenKind
  /** The text of the token, unchanged. */
  readonly text: string
  /** Offset in the text, in UTF-16 units. */
  readonly start: number
}

const NAME_CHAR = String.raw`[A-Za-z0-9_$\u0080-\uFFFF]`

const DIGITS = String.raw`\d(?:_?\d)*`

const EXPONENT = `(?:[eE][+-]?${DIGITS})?`

/** A string with backslash escapes: a quote after a backslash does not end it. */
const ESCAPED = String.raw`'[^'\\]*(?:(?:''|\\[^])[^'\\]*)*'(?!')`

/** The gap between a string and its continuation: white space and comments with a line break in them. */
const GAP = String.raw`[ \t\f\v]*(?:--[^\n\r]*)?[\n\r](?:[ \t\n\r\f\v]|--[^\n\r]*[\n\r])*`

/** The kinds of tokens with their patterns, by the first character; the first match counts. */
const PATTERNS: readonly {
  readonly begins: RegExp
  readonly are: readonly (readonly [SqlTokenKind, RegExp])[]
}[] = [
  { begins: /[ \t\n\r\f\v]/, are: [['space', sticky(String.raw`[ \t\n\r\f\v]+`)]] },
  {
    begins: /[eE]/,
    are: [
      ['string', sticky(`[eE]${ESCAPED}(?:${GAP}${ESCAPED})*`)],
      ['unterminated', sticky(`[eE]'[^]*`)],
    ],
  },
  { begins: /[uU]/, are: [['illegal', sticky(`[uU]&['"][^]*`)]] },
  { begins: /[A-Za-z_\u0080-\uFFFF]/, are: [['word', sticky(`${NAME_CHAR}+`)]] },
  {
    begins: /[\d.]/,
    are: [
      // A number directly followed by letters is an error.
      [
        'number',
        sticky(
          String.raw`(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|${DIGITS}(?:\.(?!\.)(?:${DIGITS})?)?${EXPONENT}|\.${DIGITS}${EXPONENT})(?!${NAME_CHAR})`,
        ),
      ],
      ['illegal', sticky(String.raw`\.?\d[^]*`)],
    ],
  },
  {
    begins: /'/,
    are: [
      ['string', sticky(`'[^']*(?:''[^']*)*'(?!')`)],
      ['unterminated', sticky('[^]+')],
    ],
  },
  {
    begins: /"/,
    are: [
      ['quoted-name', sticky('"(?:[^"]|"")[^"]*(?:""[^"]*)*"(?!")')],
      ['unterminated', sticky('[^]+')],
    ],
  },
  // A carriage return also ends a comment.
  { begins: /-/, are: [['comment', sticky(String.raw`--[^\n\r]*`)]] },
  { begins: /[?$]/, are: [['placeholder', sticky(String.raw`\?\d*|\$\d+`)]] },
  { begins: /;/, are: [['semicolon', sticky(';')]] },
  { begins: /[-+*/<>=~!@#%^&|`(),.:[\]]/, are: [['operator', sticky('[^]')]] },
  { begins: /[^]/, are: [['illegal', sticky('[^]+')]] },
]

function sticky(pattern: string): RegExp {
  return new RegExp(pattern, 'y')
}

/** The kinds of tokens that can begin with an ASCII character, by its code; the last entry is for all other characters. */
const BY_CODE = Array.from({ length: 129 }, (_, code) =>
  PATTERNS.filter(({ begins }) => begins.test(String.fromCharCode(code))).flatMap(({ are }) => are),
)

/** Splits a text into tokens where PostgreSQL does. Joined they are the text, or its part with the first `most` tokens. */
export function sqlTokens(text: string, most = Infinity): readonly SqlToken[] {
  const tokens: SqlToken[] = []
  let start = 0
  while (start < text.length && tokens.length < most) {
    const token = text.startsWith('/*', start) ? blockComment(text, start) : plainToken(text, start)
    tokens.push(token)
    start += token.text.length
  }
  return tokens
}

function plainToken(text: string, start: number): SqlToken {
  for (const [kind, pattern] of BY_CODE[Math.min(128, text.charCodeAt(start))] ?? []) {
    pattern.lastIndex = start
    if (!pattern.test(text)) continue
    const written = text.slice(start, pattern.lastIndex)
    return { kind: written.includes('\0') ? 'illegal' : kind, text: written, start }
  }
  throw new Error('no SQL token matches')
}

/** Block comments nest. */
function blockComment(text: string, start: number): SqlToken {
  const mark = /\/\*|\*\//g
  mark.lastIndex = start
  let depth = 0
  for (let match = mark.exec(text); match !== null; match = mark.exec(text)) {
    depth += match[0] === '/*' ? 1 : -1
    if (depth > 0) continue
    const comment = text.slice(start, mark.lastIndex)
    return { kind: comment.includes('\0') ? 'illegal' : 'comment', text: comment, start }
  }
  return { kind: 'unterminated', text: text.slice(start), start }
}

/** Whether a token is neither white space nor a comment. */
export function isSignificant({ kind }: SqlToken): boolean {
  return kind !== 'space' && kind !== 'comment'
}

/**
 * Returns the name of a token: an unquoted word in small letters, as in PostgreSQL, or the content of double quotes; else
 * null.
 */
export function nameOf({ kind, text }: SqlToken): string | null {
  if (kind === 'word') return smallLetters(text)
  return kind === 'quoted-name' ? text.slice(1, -1).replaceAll('""', '"') : null
}

/** Returns an unquoted word in capitals; an empty text for other tokens. */
export function wordOf(token: SqlToken | undefined): string {
  return token?.kind === 'word' ? token.text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase()) : ''
}

/** In a database of UTF-8, PostgreSQL folds only ASCII letters. */
function smallLetters(text: string): string {
  return /^[a-z_]+$/.test(text) ? text : text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
