/**
 * Whether `value` is a multiple of `step` by their decimal texts, so that 0.3 is a multiple of 0.1. Both are finite,
 * `step` is above 0.
 */
export function isMultipleOf(value: number, step: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(step)) return value % step === 0
  const [stepDigits, stepScale] = parts(step)
  // A decimal of at most 15 digits is unique for its double: exact without big integers.
  const factor = 10 ** stepScale
  const scaled = Math.round(value * factor)
  if (stepScale <= 15 && stepDigits < 1e15 && Math.abs(scaled) < 1e15 && scaled / factor === value) {
    return scaled % Number(stepDigits) === 0
  }
  const [digits, scale] = parts(value)
  const common = Math.max(scale, stepScale)
  return (digits * 10n ** BigInt(common - scale)) % (stepDigits * 10n ** BigInt(common - stepScale)) === 0n
}

/** Returns a number as an integer and the power of ten to divide it by, from its shortest decimal text. */
function parts(value: number): [digits: bigint, scale: number] {
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const digits = BigInt(whole + fraction)
  const scale = fraction.length - Number(exponent)
  return scale < 0 ? [digits * 10n ** BigInt(-scale), 0] : [digits, scale]
}
