type Values = Readonly<Record<string, unknown>>

/** The size of an empty value: as far from any other as a text of one character from one of eight. */
const EMPTY = -3

/**
 * Returns the ids of records whose inputs differ most: the first record, then again and again the one that differs most from those already
 * chosen. Inputs differ by their length, on a scale on which twice as long is one step, and by whether they are empty; among records of equal
 * lengths those with other values come first.
 */
export function variedRows(
  records: readonly Values[],
  inputs: readonly string[],
  count: number,
): readonly string[] {
  const shapes = records.map((record) => inputs.map((input) => shapeOf(record[input])))
  const chosen: number[] = []
  const nearest = records.map(() => Infinity)
  while (chosen.length < Math.min(count, records.length)) {
    const next = nearest.reduce(
      (best, distance, index) => (distance > (nearest[best] ?? 0) ? index : best),
      0,
    )
    chosen.push(next)
    for (const [index, shape] of shapes.entries())
      nearest[index] = Math.min(nearest[index] ?? 0, distanceOf(shape, shapes[next] ?? []))
    // A chosen record is not chosen again, also among equal ones.
    for (const index of chosen) nearest[index] = -1
  }
  return chosen.map((index) => String(records[index]?.['id']))
}

interface Shape {
  readonly size: number
  readonly text: string
}

function shapeOf(value: unknown): Shape {
  if (value === null || value === undefined || value === '') return { size: EMPTY, text: '' }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { size: Math.log2(text.length), text }
}

/** The value of a difference that is only in the text, below any in the length. */
const OTHER_TEXT = 0.01

function distanceOf(one: readonly Shape[], other: readonly Shape[]): number {
  return one.reduce((sum, shape, index) => {
    const than = other[index]
    if (than === undefined || than.text === shape.text) return sum
    return sum + Math.abs(shape.size - than.size) + OTHER_TEXT
  }, 0)
}
