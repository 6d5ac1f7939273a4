export type Parsed = { readonly value: unknown } | { readonly error: string }

/** Numbers as in JSON, and `+5`, `.5`, `5.`. */
const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
/** Groups of three digits, with an optional fraction. */
const SPACED = /^[+-]?\d{1,3}(?:([ \u00a0\u2009\u202f'’])\d{3})(?:\1\d{3})*(?:[.,]\d+)?$/
const COMMAS_THEN_POINT = /^[+-]?\d{1,3}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})$/
const POINTS_THEN_COMMA = /^[+-]?\d{1,3}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})$/
const DECIMAL_COMMA = /^[+-]?\d*,\d+$/
/** A comma that may be a decimal or a thousands separator. */
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2},\d{3}$/

/**
 * Parses a number in any unambiguous notation: a point is always the decimal point, a comma only if it cannot separate
 * thousands. Percentages and currencies are refused.
 */
export function parseNumber(type: 'integer' | 'number', written: string): Parsed {
  const text = written.trim().replaceAll('\u2212', '-')
  if (AMBIGUOUS.test(text)) {
    const thousands = text.replace(',', '')
    return { error: `"${text}" can mean ${thousands} or ${text.replace(',', '.')}; write one of these` }
  }
  const plain = plainForm(text)
  if (plain === null) return { error: `${quote(written)} is not a number` }
  const value = Number(plain)
  // JSON has no infinity; it would become null.
  if (!Number.isFinite(value)) return { error: `${quote(written)} is too large a number` }
  const isUnsafe = type === 'integer' && Number.isInteger(value) && !Number.isSafeInteger(value)
  if (isUnsafe || !keepsDigits(plain, value)) {
    return { error: `${quote(written)} has more digits than a number can keep` }
  }
  return { value: value === 0 ? 0 : value }
}

function plainForm(text: string): string | null {
  if (PLAIN.test(text)) return text
  if (SPACED.test(text)) return text.replaceAll(/[ \u00a0\u2009\u202f'’]/g, '').replace(',', '.')
  if (COMMAS_THEN_POINT.test(text)) return text.replaceAll(',', '')
  if (POINTS_THEN_COMMA.test(text)) return text.replaceAll('.', '').replace(',', '.')
  return DECIMAL_COMMA.test(text) ? text.replace(',', '.') : null
}

/** Whether a double keeps the digits of the text; the server refuses numbers that lose digits. */
function keepsDigits(plain: string, value: number): boolean {
  const written = significantDigits(plain)
  if (written.length <= 15 || significantDigits(String(value)) === written) return true
  return written.length <= 100 && significantDigits(value.toPrecision(written.length)) === written
}

function significantDigits(text: string): string {
  const [mantissa = ''] = text.split(/e/i)
  return mantissa.replaceAll(/\D/g, '').replaceAll(/^0+|0+$/g, '')
}

/** Quotes a text for messages. */
export function quote(text: string): string {
  const shown = Array.from(text)
  return shown.length > 60 ? `"${shown.slice(0, 60).join('')}…"` : `"${text}"`
}
