type Token =
  | { readonly kind: 'text'; readonly character: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | {
      readonly kind: 'set'
      readonly negated: boolean
      readonly ranges: readonly (readonly [string, string])[]
    }

/** The most characters of a pattern: far beyond any actor (D39), and fast to match with every write. */
export const MAX_GLOB_LENGTH = 500

/**
 * Whether the whole text matches the pattern: `*` any characters, also none and also `/` and `:`; `?` one; `[ab]`,
 * `[a-z]` one of these; `[!ab]` one other. Case-sensitive. In brackets a special character is literal, `]` if it is
 * the first. Never backtracks beyond the last `*`, so no pattern is slow.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const tokens = tokensOf(pattern)
  const characters = [...text]
  let token = 0
  let position = 0
  let afterStar = -1
  let starTook = 0
  while (position < characters.length) {
    const current = tokens[token]
    if (current?.kind === 'star') {
      token += 1
      afterStar = token
      starTook = position
    } else if (current && matchesOne(current, characters[position]!)) {
      token += 1
      position += 1
    } else if (afterStar >= 0) {
      // The last star matches one more character; earlier stars need no second attempt.
      starTook += 1
      token = afterStar
      position = starTook
    } else {
      return false
    }
  }
  return tokens.slice(token).every(({ kind }) => kind === 'star')
}

/** Returns the error of a pattern, or null. */
export function globError(pattern: string): string | null {
  if (pattern.length > MAX_GLOB_LENGTH) {
    return `it is longer than ${MAX_GLOB_LENGTH} characters; an actor has at most 200`
  }
  if (pattern === '') return 'an empty pattern matches nobody'
  const open = tokensOf(pattern).some((token) => token.kind === 'text' && token.character === '[')
  return open ? 'a bracket is not closed; write [[] for the character itself' : null
}

function matchesOne(token: Token, character: string): boolean {
  if (token.kind === 'text') return token.character === character
  if (token.kind !== 'set') return token.kind === 'any'
  return token.ranges.some(([first, last]) => isBetween(character, first, last)) !== token.negated
}

function isBetween(character: string, first: string, last: string): boolean {
  const point = character.codePointAt(0)!
  return point >= first.codePointAt(0)! && point <= last.codePointAt(0)!
}

function tokensOf(pattern: string): Token[] {
  const characters = [...pattern]
  const tokens: Token[] = []
  let index = 0
  while (index < characters.length) {
    const character = characters[index]!
    const end = character === '[' ? setEnd(characters, index) : -1
    if (end > 0) {
      tokens.push(setToken(characters.slice(index + 1, end)))
      index = end + 1
      continue
    }
    if (character === '*') tokens.push({ kind: 'star' })
    else if (character === '?') tokens.push({ kind: 'any' })
    else tokens.push({ kind: 'text', character })
    index += 1
  }
  return tokens
}

/** Returns the index of the bracket that closes the one at `open`, or -1. */
function setEnd(characters: readonly string[], open: number): number {
  const first = open + (characters[open + 1] === '!' ? 2 : 1)
  return characters.indexOf(']', first + 1)
}

function setToken(inside: readonly string[]): Token {
  const negated = inside[0] === '!'
  const members = negated ? inside.slice(1) : inside
  const ranges: (readonly [string, string])[] = []
  for (let index = 0; index < members.length; index += 1) {
    const first = members[index]!
    const isRange = members[index + 1] === '-' && index + 2 < members.length
    ranges.push([first, isRange ? members[index + 2]! : first])
    if (isRange) index += 2
  }
  return { kind: 'set', negated, ranges }
}
