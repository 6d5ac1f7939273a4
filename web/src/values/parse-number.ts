export type Parsed = { readonly value: unknown } | { readonly error: string }

/** The decimal sign of numbers that could have either, such as `83,601`. */
export type DecimalSign = 'point' | 'comma'

/** Numbers as in JSON, and `+5`, `.5`, `5.`. */
const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i
/** Groups of three digits, with an optional fraction. */
const SPACED = /^[+-]?\d{1,3}(?:([ \u00a0\u2009\u202f'’])\d{3})(?:\1\d{3})*(?:[.,]\d+)?$/
const COMMAS_THEN_POINT = /^[+-]?\d{1,3}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})$/
const POINTS_THEN_COMMA = /^[+-]?\d{1,3}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})$/
const DECIMAL_COMMA = /^[+-]?\d*,\d+$/
/** A sign that may be the decimal sign or separate thousands. */
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/
/** A currency sign or code before or after a number. */
const CURRENCY = /^(?<sign>[+-]?)(?:[$€£¥₹]|CHF|EUR|GBP|USD)\s*|\s*(?:[$€£¥₹]|CHF|EUR|GBP|USD)$/g

/**
 * Parses a number in a common notation, with a currency or percent sign if it has one. A single comma or point before
 * three digits is read by `decimal`; the grid shows points. A whole number has no fraction, so there it separates
 * thousands.
 */
export function parseNumber(
  type: 'integer' | 'number',
  written: string,
  decimal: DecimalSign = 'point',
): Parsed {
  const { text, isPercent } = bareNumber(written)
  const plain = plainForm(text, type, decimal)
  if (plain === null) return { error: `${quote(written)} is not a number` }
  const hasExponent = /e/i.test(plain)
  const value = isPercent && hasExponent ? Number(plain) / 100 : Number(isPercent ? `${plain}e-2` : plain)
  // JSON has no infinity; it would become null.
  if (!Number.isFinite(value)) return { error: `${quote(written)} is too large a number` }
  const isUnsafe = type === 'integer' && Number.isInteger(value) && !Number.isSafeInteger(value)
  if (isUnsafe || !keepsDigits(plain, value)) {
    return { error: `${quote(written)} has more digits than a number can keep` }
  }
  return { value: value === 0 ? 0 : value }
}

/** Returns the decimal sign that a number must have; `either` if it can have both, null if it shows none. */
export function decimalSignOf(written: string): DecimalSign | 'either' | null {
  const { text } = bareNumber(written)
  if (AMBIGUOUS.test(text)) return 'either'
  if (COMMAS_THEN_POINT.test(text)) return 'point'
  if (POINTS_THEN_COMMA.test(text) || DECIMAL_COMMA.test(text)) return 'comma'
  return PLAIN.test(text) && text.includes('.') ? 'point' : null
}

function bareNumber(written: string): { readonly text: string; readonly isPercent: boolean } {
  const text = written.trim().replaceAll('\u2212', '-')
  const isPercent = text.endsWith('%')
  const bare = isPercent ? text.slice(0, -1).trimEnd() : text
  return { text: bare.replace(CURRENCY, '$<sign>'), isPercent }
}

function plainForm(text: string, type: 'integer' | 'number', decimal: DecimalSign): string | null {
  if (AMBIGUOUS.test(text)) {
    const isFraction = type === 'number' && text.includes(decimal === 'point' ? '.' : ',')
    return text.replace(/[.,]/, isFraction ? '.' : '')
  }
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
