import { countOf, formatDuration, formatMoney } from '../../ui/format.ts'
import type { PreviewRow } from './preview-text.ts'

/** The inputs of a record, the request made for it, its response and its cost. */
export function PreviewDetails({ row }: { readonly row: PreviewRow }) {
  const [failure] = Object.values(row.failures)
  const body = row.response?.body ?? failure?.response_body
  const inputs = Object.entries(row.inputs)
  const facts = [
    row.calls === 0
      ? row.outcome === 'computed'
        ? 'no call, or from the cache'
        : 'no call'
      : countOf(row.calls, 'call'),
    ...(row.cost > 0 ? [formatMoney(row.cost)] : []),
    formatDuration(row.ms),
    ...(row.response === null ? [] : [`status ${row.response.status}`]),
  ]
  return (
    <dl className="preview-details">
      {inputs.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
      {row.request !== null && (
        <div>
          <dt>Request</dt>
          <dd>
            <code>{row.request}</code>
          </dd>
        </div>
      )}
      {body !== undefined && (
        <div>
          <dt>Response</dt>
          <dd>
            {/* A scrollable element must be focusable to be scrolled by keyboard. */}
            <pre tabIndex={0} aria-label={`Response for ${row.record_id}`}>
              {body.slice(0, 4000)}
            </pre>
          </dd>
        </div>
      )}
      {row.evidence !== null && body === undefined && (
        <div>
          <dt>Evidence</dt>
          <dd>
            <pre tabIndex={0} aria-label={`Evidence for ${row.record_id}`}>
              {JSON.stringify(row.evidence, null, 2).slice(0, 4000)}
            </pre>
          </dd>
        </div>
      )}
      <div>
        <dt>Cost</dt>
        <dd>{facts.join(' · ')}</dd>
      </div>
    </dl>
  )
}
