import { useMemo, useState, type PointerEvent } from 'react'
import { formatValue } from '../../values/format-value.ts'
import type { LineChart, Point } from './chart-choice.ts'
import { numberAxis, tickLabel } from './number-axis.ts'
import { timeTicks } from './time-axis.ts'

const HEIGHT = 360
const TOP = 28
const BOTTOM = HEIGHT - 48
const LEFT = 60
const RIGHT = 20
/** The number of points up to which they are marked. */
const MAX_DOTS = 60

interface LineViewProps {
  readonly chart: LineChart
  readonly name: string
  readonly width: number
}

/** A line chart over time; the point nearest to the pointer has a label. */
export function LineView({ chart, name, width }: LineViewProps) {
  const { points, time, number } = chart
  const [pointed, setPointed] = useState<Point | null>(null)
  const { x, y, axis, ticks } = useMemo(() => scalesOf(points, width), [points, width])
  const path = points.map(
    (point, index) => `${index === 0 ? 'M' : 'L'}${x(point.at).toFixed(1)},${y(point.value).toFixed(1)}`,
  )
  const onPointerMove = ({ currentTarget, clientX }: PointerEvent<SVGSVGElement>): void => {
    const at = clientX - currentTarget.getBoundingClientRect().left
    setPointed(points.reduce((a, b) => (Math.abs(x(b.at) - at) < Math.abs(x(a.at) - at) ? b : a)))
  }
  return (
    <svg
      role="img"
      aria-label={name}
      width={width}
      height={HEIGHT}
      className="chart"
      onPointerMove={onPointerMove}
      onPointerLeave={() => setPointed(null)}
    >
      <text className="chart-name" x={8} y={14}>
        {number}
      </text>
      {axis.ticks.map((tick) => (
        <g key={tick}>
          <line
            className={tick === 0 ? 'chart-zero' : 'chart-line'}
            x1={LEFT}
            x2={width - RIGHT}
            y1={y(tick)}
            y2={y(tick)}
          />
          <text className="chart-tick" x={LEFT - 8} y={y(tick)} dominantBaseline="central" textAnchor="end">
            {tickLabel(tick)}
          </text>
        </g>
      ))}
      {ticks.map(({ at, label }) => (
        <g key={at}>
          <line className="chart-line" x1={x(at)} x2={x(at)} y1={BOTTOM} y2={BOTTOM + 5} />
          <text className="chart-tick" x={x(at)} y={BOTTOM + 18} textAnchor="middle">
            {label}
          </text>
        </g>
      ))}
      <text className="chart-name" x={(LEFT + width - RIGHT) / 2} y={HEIGHT - 8} textAnchor="middle">
        {time}
      </text>
      <path className="chart-path" d={path.join('')} />
      {points.length <= MAX_DOTS &&
        points.map((point, index) => (
          // Times may repeat.
          // oxlint-disable-next-line react/no-array-index-key
          <circle key={index} className="chart-dot" cx={x(point.at)} cy={y(point.value)} r={3} />
        ))}
      {pointed !== null && <Pointed point={pointed} x={x(pointed.at)} y={y(pointed.value)} width={width} />}
    </svg>
  )
}

interface PointedProps {
  readonly point: Point
  readonly x: number
  readonly y: number
  readonly width: number
}

function Pointed({ point, x, y, width }: PointedProps) {
  const isRight = x > width / 2
  return (
    <g className="chart-pointed" aria-hidden="true">
      <line className="chart-zero" x1={x} x2={x} y1={TOP} y2={BOTTOM} />
      <circle className="chart-dot" cx={x} cy={y} r={5} />
      <text
        className="chart-value"
        x={isRight ? x - 10 : x + 10}
        y={TOP - 10}
        textAnchor={isRight ? 'end' : 'start'}
      >
        {`${point.label}: ${formatValue(null, point.value)}`}
      </text>
    </g>
  )
}

function scalesOf(points: readonly Point[], width: number) {
  const from = points[0]?.at ?? 0
  const to = Math.max(points.at(-1)?.at ?? 0, from + 1)
  const axis = numberAxis(
    points.map(({ value }) => value),
    5,
  )
  return {
    axis,
    ticks: timeTicks(from, to, Math.max(2, Math.floor((width - LEFT - RIGHT) / 110))),
    x: (at: number): number => LEFT + ((at - from) / (to - from)) * (width - LEFT - RIGHT),
    y: (value: number): number => BOTTOM - ((value - axis.from) / (axis.to - axis.from)) * (BOTTOM - TOP),
  }
}
