/** Letters without a decomposition in Unicode. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  Æ: 'Ae',
  œ: 'oe',
  Œ: 'Oe',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}

/** Names that no field may have, as in parse-field.ts. */
const REFUSED: ReadonlySet<string> = new Set(['__proto__', 'true', 'false'])

/** The most characters of a name; the business name keeps the whole. */
const MAX_LENGTH = 64

/**
 * Converts column names to valid field names (D5): letters, digits and `_`, not starting with a digit, unique
 * ignoring case, in the order of the columns. `taken` are names in use. A column without an ASCII letter is named by
 * its position.
 */
export function fieldNames(columns: readonly string[], taken: readonly string[] = []): string[] {
  const used = new Set(taken.map((name) => name.toLowerCase()))
  // A name that is already valid is kept, whatever precedes it.
  const kept = new Set<string>()
  for (const column of columns) {
    const lower = column.toLowerCase()
    if (plainName(column) !== column || used.has(lower)) continue
    used.add(lower)
    kept.add(column)
  }
  const given = new Set<string>()
  return columns.map((column, index) => {
    if (kept.has(column) && !given.has(column)) {
      given.add(column)
      return column
    }
    const name = firstFree(plainName(column) ?? `field_${index + 1}`, used)
    used.add(name.toLowerCase())
    return name
  })
}

/** Returns the valid part of a name, null if nothing is left. */
function plainName(column: string): string | null {
  const ascii = column
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßæÆœŒøØłŁđĐðþı]/g, (letter) => LETTERS[letter] ?? letter)
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(ascii) && ascii.length <= MAX_LENGTH) return notRefused(ascii)
  const name = ascii
    .replace(/[^A-Za-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, MAX_LENGTH)
    .replace(/_+$/, '')
  if (name === '') return null
  return notRefused(/^[0-9]/.test(name) ? `_${name}` : name)
}

function notRefused(name: string): string {
  return REFUSED.has(name.toLowerCase()) ? `${name}_` : name
}

function firstFree(name: string, used: ReadonlySet<string>): string {
  if (!used.has(name.toLowerCase())) return name
  for (let number = 2; ; number += 1) {
    const next = `${name}_${number}`
    if (!used.has(next.toLowerCase())) return next
  }
}

/** Words in a column name that indicate a key. */
export const KEY_WORDS: ReadonlySet<string> = new Set(
  'id key code uuid guid no nr num number slug sku isbn issn ean gtin doi iban iso ref reference email username login handle'.split(
    ' ',
  ),
)

/** Whether a column name indicates a key: one of its words is a key word (`isbn`, `orderNo`, `country code`). */
export function looksLikeKey(column: string): boolean {
  const words = column.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/)
  return words.some((word) => KEY_WORDS.has(word.toLowerCase()))
}
