/** Letters that have no form without their mark (Unicode decomposes the others). */
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

/** As in parse-field.ts: what no field can be called. */
const REFUSED: ReadonlySet<string> = new Set(['__proto__', 'true', 'false'])

/** Longer names help nobody; the whole is kept as the field's business name. */
const MAX_LENGTH = 64

/**
 * Gives columns the names that they can have as fields (D5): letters, digits and `_`, not starting with a digit, no two alike but
 * for case, in the order of the columns. `taken` are names that others have. A column without a letter of ASCII in it is
 * called by its place.
 */
export function fieldNames(columns: readonly string[], taken: readonly string[] = []): string[] {
  const used = new Set(taken.map((name) => name.toLowerCase()))
  // A name that is fine as it is stays, whoever comes before it.
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

/** What is left of a name, null when that is nothing. */
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

/** Words of a name that say that it tells records apart. */
export const KEY_WORDS: ReadonlySet<string> = new Set(
  'id key code uuid guid no nr num number slug sku isbn issn ean gtin doi iban iso ref reference email username login handle'.split(
    ' ',
  ),
)

/** Whether a column's name says that it tells records apart: one of its words is such a word (`isbn`, `orderNo`, `country code`). */
export function readsLikeKey(column: string): boolean {
  const words = column.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/)
  return words.some((word) => KEY_WORDS.has(word.toLowerCase()))
}
