const DATE = /^\d{4}-\d{2}-\d{2}$/
const DAY_MS = 86_400_000

/**
 * Returns the values that follow these: the series of numbers or dates with a constant step, else the values repeated.
 * A single value is repeated.
 */
export function fillSeries(values: readonly unknown[], count: number): readonly unknown[] {
  const next = numberSeries(values) ?? dateSeries(values)
  return Array.from({ length: count }, (_, index) =>
    next === null ? values[index % values.length] : next(values.length + index),
  )
}

type Series = (index: number) => unknown

function numberSeries(values: readonly unknown[]): Series | null {
  const numbers = values.filter((value) => typeof value === 'number')
  const step = numbers.length === values.length ? stepOf(numbers) : null
  if (step === null) return null
  // Sums of decimal fractions have errors in the last digits: 0.1 + 2 * 0.1.
  return (index) => Number(((numbers[0] ?? 0) + step * index).toPrecision(14))
}

function dateSeries(values: readonly unknown[]): Series | null {
  const days = values.map((value) =>
    typeof value === 'string' && DATE.test(value) ? Date.parse(`${value}T00:00:00Z`) / DAY_MS : NaN,
  )
  const step = stepOf(days)
  if (step === null) return null
  return (index) => new Date(((days[0] ?? 0) + step * index) * DAY_MS).toISOString().slice(0, 10)
}

/** Returns the difference of neighbours if it is the same for all; null otherwise. */
function stepOf(numbers: readonly number[]): number | null {
  const [first, second] = numbers
  if (first === undefined || second === undefined) return null
  const step = second - first
  const tolerance = Math.max(...numbers.map(Math.abs)) * 1e-12
  const isConstant = numbers.every((number, index) => Math.abs(number - (first + step * index)) <= tolerance)
  return isConstant ? step : null
}
