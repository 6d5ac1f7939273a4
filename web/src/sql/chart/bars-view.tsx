import { formatValue } from '../../values/format-value.ts'
import type { BarsChart } from './chart-choice.ts'
import { numberAxis, tickLabel } from './number-axis.ts'

const BAR = 20
const STEP = 28
const AXIS = 46
const LETTER = 7.2
/** The space for the number at the end of a bar. */
const END = 92

interface BarsViewProps {
  readonly chart: BarsChart
  readonly name: string
  readonly width: number
}

/** A horizontal bar chart. */
export function BarsView({ chart, name, width }: BarsViewProps) {
  const { bars, category, number } = chart
  const longest = Math.max(category.length, ...bars.map(({ label }) => label.length))
  const left = Math.min(longest * LETTER + 14, width * 0.38, 260)
  const room = Math.max(40, width - left - END)
  const letters = Math.max(3, Math.floor((left - 14) / LETTER))
  const axis = numberAxis(
    bars.map(({ value }) => value ?? 0),
    Math.max(2, Math.floor(room / 110)),
  )
  const x = (value: number): number => left + ((value - axis.from) / (axis.to - axis.from)) * room
  const top = 26
  const bottom = top + bars.length * STEP
  return (
    <svg role="img" aria-label={name} width={width} height={bottom + AXIS} className="chart">
      <text className="chart-name" x={left - 10} y={14} textAnchor="end">
        {cut(category, letters)}
      </text>
      {axis.ticks.map((tick) => (
        <g key={tick}>
          <line
            className={tick === 0 ? 'chart-zero' : 'chart-line'}
            x1={x(tick)}
            x2={x(tick)}
            y1={top - 4}
            y2={bottom}
          />
          <text className="chart-tick" x={x(tick)} y={bottom + 17} textAnchor="middle">
            {tickLabel(tick)}
          </text>
        </g>
      ))}
      <text className="chart-name" x={left + room / 2} y={bottom + 38} textAnchor="middle">
        {number}
      </text>
      {bars.map(({ label, value }, index) => {
        const y = top + index * STEP + (STEP - BAR) / 2
        const from = x(Math.min(0, value ?? 0))
        const to = x(Math.max(0, value ?? 0))
        return (
          // Labels may repeat.
          // oxlint-disable-next-line react/no-array-index-key
          <g key={index} className="chart-bar">
            <title>{`${label}: ${value === null ? 'no value' : formatValue(null, value)}`}</title>
            <rect className="chart-hit" x={0} y={top + index * STEP} width={width} height={STEP} />
            <text
              className="chart-label"
              x={left - 10}
              y={y + BAR / 2}
              dominantBaseline="central"
              textAnchor="end"
            >
              {cut(label, letters)}
            </text>
            {value !== null && (
              <rect
                className="chart-fill"
                x={from}
                y={y}
                width={Math.max(1, to - from)}
                height={BAR}
                rx={2}
              />
            )}
            <text className="chart-value" x={to + 6} y={y + BAR / 2} dominantBaseline="central">
              {value === null ? '–' : formatValue(null, value)}
            </text>
          </g>
        )
      })}
    </svg>
  )
}

function cut(text: string, letters: number): string {
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text
}
