const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** Characters of a plain decimal that a double always keeps: 15 digits, or fewer beside a point and a sign. */
const ALWAYS_KEPT = 15

/** Numbers nearer to zero may be subnormal, and have fewer digits than others. */
const SMALLEST_NORMAL = 1e-300

/** The most digits that `toPrecision` writes. */
const MOST_DIGITS = 100

/**
 * Returns the number that a decimal text denotes, or null where a double does not keep what is written: digits would change,
 * or the number overflows or underflows. Kept is every text that the double gives back when it is written with as many
 * significant digits (`0.57`, `1e-06`, and `0.10000000000000001` as `%.17g` prints 0.1). An integer beyond ±(2^53−1) in
 * plain digits is kept only if it is its double exactly (as SQLite writes it), or the shortest text for it (as JavaScript does).
 */
export function numberFrom(text: string): number | null {
  if (!NUMBER.test(text)) return null
  const number = Number(text)
  if (text.length <= ALWAYS_KEPT && !/e/i.test(text)) return number
  return isKept(text, number) ? number : null
}

/** Whether a text is an integer in plain digits that JSON programs do not agree on (RFC 8259, 6): beyond ±(2^53−1). */
export function isUnsafeInteger(text: string): boolean {
  return text.length > ALWAYS_KEPT && /^[+-]?\d+$/.test(text) && !Number.isSafeInteger(Number(text))
}

function isKept(text: string, number: number): boolean {
  if (!Number.isFinite(number)) return false
  // As most programs write it, and the only check that many numbers take.
  if (String(number) === text) return true
  const digits = significantDigits(text)
  if (number === 0) return digits === ''
  if (isUnsafeInteger(text))
    return significantDigits(String(number)) === digits || BigInt(text) === BigInt(number)
  if (digits.length <= ALWAYS_KEPT && Math.abs(number) >= SMALLEST_NORMAL) return true
  return digits.length < MOST_DIGITS && isPrintedAs(number, digits)
}

/** Whether a program may print a double with these digits: halfway between two, printers round up, down or to even. */
function isPrintedAs(number: number, digits: string): boolean {
  if (significantDigits(number.toPrecision(digits.length)) === digits) return true
  return significantDigits(number.toPrecision(MOST_DIGITS)) === `${digits}5`
}

/** The digits of a number from the first to the last that is not zero; the empty text for zero. */
function significantDigits(text: string): string {
  const [mantissa = ''] = text.split(/e/i)
  return mantissa.replace(/[^\d]/g, '').replace(/^0+|0+$/g, '')
}
