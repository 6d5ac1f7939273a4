import { formatValue } from '../values/format-value.ts'
import { HUES, rounded, type Choosing } from './choosing.ts'
import { groupCondition, isOpen, toggleGroup } from './group-conditions.ts'
import type { GroupRow, GroupRows } from './group-rows.ts'

const WIDTH = 300
const HEIGHT = 120
/** The least height of the scale, for values that are all 0. */
const LEAST_HEIGHT = 1e-9

interface LineChartProps extends Choosing {
  readonly groups: GroupRows
}

/** Periods in their order, with a line for each value of the second field: a press on a period limits the records to it. */
export function LineChart({ by, groups, conditions, onFilter }: LineChartProps) {
  const rows = groups.rows.filter(({ value }) => value !== null)
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined || first === last) return null
  const lines = groups.splits.length === 0 ? [null] : groups.splits.map(({ place }) => place)
  const sizes = lines.flatMap((place) => rows.map((row) => sizeOf(row, place)))
  const [least, greatest] = [Math.min(0, ...sizes), Math.max(LEAST_HEIGHT, ...sizes)]
  const x = (index: number): number => ((index + 0.5) / rows.length) * WIDTH
  const y = (size: number): number => HEIGHT - ((size - least) / (greatest - least)) * HEIGHT
  return (
    <figure className="groups-figure">
      <div className="groups-line">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {lines.map((place) => (
            <polyline
              key={place}
              data-hue={place === null ? undefined : place % HUES}
              points={rows.map((row, index) => `${x(index)},${y(sizeOf(row, place))}`).join(' ')}
            />
          ))}
        </svg>
        <div
          className="groups-periods"
          role="group"
          aria-label={`${by.title} from ${first.label} to ${last.label}`}
        >
          {rows.map((row) => {
            const condition = groupCondition(by, row.value)
            const text = `${row.label}: ${formatValue('number', rounded(row.size))}`
            return (
              <button
                key={row.label}
                type="button"
                // The list below has the same for the keyboard.
                tabIndex={-1}
                aria-pressed={isOpen(conditions, condition)}
                aria-label={text}
                title={text}
                onClick={() => onFilter(toggleGroup(conditions, condition))}
              />
            )
          })}
        </div>
      </div>
      <figcaption>
        <span>{first.label}</span>
        <span>{last.label}</span>
      </figcaption>
    </figure>
  )
}

/** Returns the size of a group, or of its part with a value of the second field. */
function sizeOf({ size, parts }: GroupRow, place: number | null): number {
  return place === null ? size : (parts.find((part) => part.place === place)?.size ?? 0)
}
