/** The round ticks of an axis that contains all values and zero. */
export interface NumberAxis {
  readonly from: number
  readonly to: number
  readonly ticks: readonly number[]
}

/** Computes an axis with about the wanted number of ticks. */
export function numberAxis(values: readonly number[], wanted: number, withZero = true): NumberAxis {
  let least = withZero ? 0 : Infinity
  let most = withZero ? 0 : -Infinity
  for (const value of values) {
    least = Math.min(least, value)
    most = Math.max(most, value)
  }
  if (!Number.isFinite(least) || !Number.isFinite(most)) return { from: 0, to: 1, ticks: [0, 1] }
  if (least === most) most = least + (Math.abs(least) || 1)
  const step = roundStep((most - least) / Math.max(1, wanted))
  const from = Math.floor(least / step)
  const to = Math.ceil(most / step)
  // Multiplies instead of adding up, and rounds off binary fractions: 0.3, not 0.30000000000000004.
  const ticks = Array.from({ length: to - from + 1 }, (_, n) => Number(((from + n) * step).toPrecision(12)))
  return { from: ticks[0] ?? 0, to: ticks.at(-1) ?? 1, ticks }
}

/** Returns 1, 2 or 5 times a power of ten, not less than the argument. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  const factor = [1, 2, 5].find((each) => each * power >= least * (1 - 1e-9)) ?? 10
  return factor * power
}

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 })

/** Formats a tick briefly: `20K`, `1.5M`. */
export function tickLabel(value: number): string {
  return Math.abs(value) < 1e15 ? COMPACT.format(value) : value.toExponential(1)
}
