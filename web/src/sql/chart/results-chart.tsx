import { useSize } from '../../ui/use-size.ts'
import { BarsView } from './bars-view.tsx'
import { describeChart, type Chart } from './chart-choice.ts'
import { LineView } from './line-view.tsx'
import './results-chart.css'

const MAX_WIDTH = 1100

/** The chart of a result. */
export function ResultsChart({ chart }: { readonly chart: Chart }) {
  const [ref, { width }] = useSize<HTMLDivElement>()
  const name = describeChart(chart)
  const drawn = Math.min(width, MAX_WIDTH)
  return (
    <div className="results-chart" tabIndex={0} role="group" aria-label="Chart">
      <div ref={ref}>
        {drawn > 0 &&
          (chart.kind === 'bars' ? (
            <BarsView chart={chart} name={name} width={drawn} />
          ) : (
            <LineView chart={chart} name={name} width={drawn} />
          ))}
      </div>
      {chart.kind === 'bars' && (
        <table className="visually-hidden">
          <caption>{name}</caption>
          <thead>
            <tr>
              <th scope="col">{chart.category}</th>
              <th scope="col">{chart.number}</th>
            </tr>
          </thead>
          <tbody>
            {chart.bars.map(({ label, value }, index) => (
              // Labels may repeat.
              // oxlint-disable-next-line react/no-array-index-key
              <tr key={index}>
                <th scope="row">{label}</th>
                <td>{value ?? 'no value'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}
