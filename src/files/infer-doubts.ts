import type { LogicalType } from '../contract/contract.ts'
import { showValue } from '../contract/show-value.ts'
import type { ColumnSketch, Sighting } from './infer-column.ts'
import type { Kind } from './infer-kind.ts'
import type { FileProfile } from './infer-profile.ts'

/** From this share of the values on, those of another kind are told of one by one. */
const MOST = 0.9

const PLURALS: Readonly<Record<Kind, string>> = {
  integer: 'integers',
  number: 'numbers',
  boolean: 'booleans',
  date: 'dates',
  timestamp: 'timestamps',
  time: 'times',
  array: 'arrays',
  object: 'objects',
  text: 'texts',
}

/** What somebody should look at who knows what a column means; each a sentence without a full stop. */
export function doubtsOf(column: ColumnSketch, type: LogicalType, file: FileProfile['file']): string[] {
  if (column.count === 0) return ['no values, so taken for text']
  if (type === 'timestamp')
    return file.cells === 'cells' ? ['a spreadsheet has no offsets: taken as UTC'] : []
  if (type !== 'string') return []
  const show = ({ value, at }: Sighting): string => `${showValue(value)} in ${file.unit} ${at}`
  return [
    nearlyAll(column, show),
    lossy(column, show),
    padded(column, show),
    otherMoment(column, show),
    mixed(column),
  ].filter((doubt) => doubt !== null)
}

type Show = (sighting: Sighting) => string

/** A column of numbers with one `n/a`. */
function nearlyAll({ kinds, count, blank }: ColumnSketch, show: Show): string | null {
  const [most, ...others] = [...kinds].toSorted(([, a], [, b]) => b.count - a.count)
  const [other] = others.toSorted(([, a], [, b]) => a.at - b.at)
  if (most === undefined || other === undefined) return null
  const [kind, sighting] = most
  if (kind === 'text' || sighting.count < (count - blank) * MOST) return null
  return `${sighting.count} of ${count - blank} values are ${PLURALS[kind]}, but not ${show(other[1])}: kept as text`
}

function lossy({ lossy: sighting }: ColumnSketch, show: Show): string | null {
  if (sighting === null) return null
  const others = sighting.count === 1 ? '' : `, and ${sighting.count - 1} more`
  return `more digits than a number keeps: ${show(sighting)}${others}: kept as text`
}

function padded({ padded: sighting, kinds, count, blank }: ColumnSketch, show: Show): string | null {
  if (sighting === null || sighting.count + (kinds.get('integer')?.count ?? 0) < count - blank) return null
  return `digits with zeros or a plus sign before them, as ${show(sighting)}: kept as text`
}

function otherMoment({ otherMoment: sighting, count, blank }: ColumnSketch, show: Show): string | null {
  if (sighting === null || sighting.count < (count - blank) * MOST) return null
  return (
    `times or dates as ${show(sighting)}: kept as text, since a date is YYYY-MM-DD and a timestamp has a T ` +
    'and an offset'
  )
}

function mixed({ kinds }: ColumnSketch): string | null {
  const others = [...kinds].filter(([, { value }]) => typeof value !== 'string')
  if (others.length === 0) return null
  return `values of different types (${[...kinds.keys()].map((kind) => PLURALS[kind]).join(', ')}): kept as text, in JSON`
}
