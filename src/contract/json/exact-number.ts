const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/**
 * The number of characters up to which a double represents every plain decimal: 15 digits, fewer with a point and a
 * sign.
 */
const ALWAYS_KEPT = 15

/** The magnitude below which numbers may be subnormal and have fewer digits. */
const SMALLEST_NORMAL = 1e-300

/** The most digits of `toPrecision`. */
const MOST_DIGITS = 100

/**
 * Returns the number of a decimal text, or null if a double does not represent it: digits would change, or the number
 * overflows or underflows. A text is accepted if the double prints the same with as many significant digits (`0.57`,
 * `1e-06`, and `0.10000000000000001` as `%.17g` prints 0.1). A plain integer beyond ±(2^53−1) is accepted only if it
 * equals its double exactly (as SQLite writes it), or is the shortest text for it (as JavaScript does).
 */
export function numberFrom(text: string): number | null {
  if (!NUMBER.test(text)) return null
  const number = Number(text)
  if (text.length <= ALWAYS_KEPT && !/e/i.test(text)) return number
  return isKept(text, number) ? number : null
}

/** Whether a text is a plain integer that JSON programs may read differently (RFC 8259, 6): beyond ±(2^53−1). */
export function isUnsafeInteger(text: string): boolean {
  return text.length > ALWAYS_KEPT && /^[+-]?\d+$/.test(text) && !Number.isSafeInteger(Number(text))
}

function isKept(text: string, number: number): boolean {
  if (!Number.isFinite(number)) return false
  // The usual notation, and the only check for most numbers.
  if (String(number) === text) return true
  const digits = significantDigits(text)
  if (number === 0) return digits === ''
  if (isUnsafeInteger(text))
    return significantDigits(String(number)) === digits || BigInt(text) === BigInt(number)
  if (digits.length <= ALWAYS_KEPT && Math.abs(number) >= SMALLEST_NORMAL) return true
  return digits.length < MOST_DIGITS && isPrintedAs(number, digits)
}

/** Whether a program may print a double with these digits: at a tie, printers round up, down or to even. */
function isPrintedAs(number: number, digits: string): boolean {
  if (significantDigits(number.toPrecision(digits.length)) === digits) return true
  return significantDigits(number.toPrecision(MOST_DIGITS)) === `${digits}5`
}

/** Returns the digits of a number from the first to the last nonzero one; empty for zero. */
function significantDigits(text: string): string {
  const [mantissa = ''] = text.split(/e/i)
  return mantissa.replace(/[^\d]/g, '').replace(/^0+|0+$/g, '')
}
