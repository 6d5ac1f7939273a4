/** What kind of thing a token is, as PostgreSQL's own scanner sees it (16 and later, texts in standard quotes). */
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
  /** One character, also of operators that have several: what matters is where comments begin. */
  | 'operator'
  /** A quote or comment that is never closed; runs to the end of the text. */
  | 'unterminated'
  /** Anything else, and all that follows it: what PostgreSQL refuses, dollar quotes, and Unicode escapes in `U&"…"`. */
  | 'illegal'

export interface SqlToken {
  readonly kind: SqlTokenKind
  /** As written. */
  readonly text: string
  /** Where it starts in the text, in UTF-16 units. */
  readonly start: number
}

const NAME_CHAR = String.raw`[A-Za-z0-9_$\u0080-\uFFFF]`

const DIGITS = String.raw`\d(?:_?\d)*`

const EXPONENT = `(?:[eE][+-]?${DIGITS})?`

/** With backslashes: a quote behind one does not end it. */
const ESCAPED = String.raw`'[^'\\]*(?:(?:''|\\[^])[^'\\]*)*'(?!')`

/** What joins a string to the one before it: white space and comments with a line break in them. */
const GAP = String.raw`[ \t\f\v]*(?:--[^\n\r]*)?[\n\r](?:[ \t\n\r\f\v]|--[^\n\r]*[\n\r])*`

/** The kinds of tokens, each with what it looks like, by what it begins with; the first that fits is it. */
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
      // With letters glued to it a number is an error.
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
  // A comment ends at a carriage return as well.
  { begins: /-/, are: [['comment', sticky(String.raw`--[^\n\r]*`)]] },
  { begins: /[?$]/, are: [['placeholder', sticky(String.raw`\?\d*|\$\d+`)]] },
  { begins: /;/, are: [['semicolon', sticky(';')]] },
  { begins: /[-+*/<>=~!@#%^&|`(),.:[\]]/, are: [['operator', sticky('[^]')]] },
  { begins: /[^]/, are: [['illegal', sticky('[^]+')]] },
]

function sticky(pattern: string): RegExp {
  return new RegExp(pattern, 'y')
}

/** What a token can be that begins with a character of ASCII, by its code; the last is for all others. */
const BY_CODE = Array.from({ length: 129 }, (_, code) =>
  PATTERNS.filter(({ begins }) => begins.test(String.fromCharCode(code))).flatMap(({ are }) => are),
)

/** Splits a text into tokens where PostgreSQL does; together they are the text, or the part with the first `most` of them. */
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

/** What a token names: a word in small letters, as PostgreSQL takes it, or what stands in double quotes; else null. */
export function nameOf({ kind, text }: SqlToken): string | null {
  if (kind === 'word') return smallLetters(text)
  return kind === 'quoted-name' ? text.slice(1, -1).replaceAll('""', '"') : null
}

/** The word in capitals that an unquoted token is; else an empty text. */
export function wordOf(token: SqlToken | undefined): string {
  return token?.kind === 'word' ? token.text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase()) : ''
}

/** In a database of UTF-8 PostgreSQL makes letters of ASCII small, and no others. */
function smallLetters(text: string): string {
  return /^[a-z_]+$/.test(text) ? text : text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
