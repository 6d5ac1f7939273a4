/** Matches a quantifier `{n}`, `{n,}` or `{n,m}`. */
const COUNTED = /\{(\d{1,6})(,?)(\d{0,6})\}/y

/** Matches the braces of an escape such as `\p{Letter}` or `\u{1F600}`. */
const BRACED_ESCAPE = /\\[pPuxk]\{[^{}]*\}/y

/** The parts of a group so far, except the last, which a quantifier may follow. */
interface Group {
  size: number
  last: number
}

/**
 * Estimates the number of instructions that a regular expression compiles to, without compiling it: a character or
 * class is one, and `{n}` multiplies what precedes it by n. Takes time in proportion to the text, which may be
 * malformed.
 */
export function patternSize(pattern: string): number {
  const groups: Group[] = []
  let group: Group = { size: 0, last: 0 }
  const begin = (size: number): void => {
    group.size += group.last
    group.last = size
  }
  for (let index = 0; index < pattern.length;) {
    const counted = matchAt(COUNTED, pattern, index)
    switch (pattern[index]) {
      case '\\':
        begin(1)
        index += matchAt(BRACED_ESCAPE, pattern, index)?.[0].length ?? 2
        continue
      case '[':
        begin(1)
        index = classEnd(pattern, index)
        continue
      case '(':
        groups.push(group)
        group = { size: 2, last: 0 }
        break
      case ')': {
        const inner = group.size + group.last
        group = groups.pop() ?? { size: inner, last: 0 }
        begin(inner)
        break
      }
      case '*':
      case '+':
      case '?':
        group.last += 1
        break
      case '|':
        begin(2)
        break
      default:
        if (counted === null) {
          begin(1)
          break
        }
        group.last = repeated(group.last, counted)
        index += counted[0].length
        continue
    }
    index += 1
  }
  return groups.reduce((sum, { size, last }) => sum + size + last, group.size + group.last)
}

/** Multiplies by a quantifier; optional repetitions have one more instruction each. */
function repeated(size: number, [, least = '0', comma, most = '']: RegExpExecArray): number {
  const fewest = Number(least)
  if (comma === '') return size * fewest
  if (most === '') return size * (fewest + 1) + 1
  return size * fewest + (size + 1) * Math.max(0, Number(most) - fewest)
}

/** Returns the index after the bracket that closes a class. */
function classEnd(pattern: string, open: number): number {
  let index = open + 1
  while (index < pattern.length && pattern[index] !== ']') index += pattern[index] === '\\' ? 2 : 1
  return index + 1
}

function matchAt(expression: RegExp, text: string, index: number): RegExpExecArray | null {
  expression.lastIndex = index
  return expression.exec(text)
}
