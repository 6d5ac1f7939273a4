import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { PreviewAnswer } from '../../../../src/wire/definition/preview.ts'
import { messageOf } from '../../api/api-error.ts'
import type { SheetContract } from '../../api/contract.ts'
import { countQuery } from '../../api/queries.ts'
import { server } from '../../api/server.ts'
import { Button } from '../../ui/button.tsx'
import { countOf, formatDuration, formatMoney } from '../../ui/format.ts'
import { CellValueView } from '../../values/cell-value-view.tsx'
import './derivation-preview.css'
import type { PreviewOf } from './preview-of.ts'
import { presentOf, rowsFor, ROWS, type RowChoice } from './preview-rows.ts'
import {
  isChanged,
  isValid,
  previewSummary,
  reasonText,
  type Present,
  type PreviewRow,
} from './preview-text.ts'

interface DerivationPreviewProps {
  /** The contract, with fields that are not saved yet. */
  readonly contract: SheetContract
  /** The name of the file. */
  readonly file: string
  readonly text: string
  readonly actor: string
  /** The fields that the derivation fills on the server; null for a new one. */
  readonly targetsNow: readonly string[] | null
  /** The text of a contract that is not saved; null for the present one. */
  readonly contractText?: string | null
  /** The ids of the records that are ticked. */
  readonly ticked?: readonly string[]
  /** Called with each result. */
  readonly onResult?: ((answer: PreviewAnswer) => void) | undefined
}

interface Result {
  readonly text: string
  readonly answer: PreviewAnswer
  /** The present values of the records; null for a new derivation. */
  readonly present: ReadonlyMap<string, Present> | null
}

const NAMES: Readonly<Record<RowChoice, string>> = {
  states: 'Failed, overridden and fresh rows',
  ticked: 'Ticked rows',
  first: 'First rows',
  random: 'Random rows',
}

const NONE: readonly string[] = []

/** Computes a derivation that is not saved on a few records, and shows what comes out. No cell is written. */
export function DerivationPreview(props: DerivationPreviewProps) {
  const { contract, text, targetsNow, ticked = NONE } = props
  const [chosen, setChosen] = useState<RowChoice | null>(null)
  const { result, error, isBusy, run } = usePreview(props)
  const { data: count } = useQuery(countQuery(null))
  const choices: readonly RowChoice[] = [
    ...(targetsNow === null ? [] : (['states'] as const)),
    ...(ticked.length === 0 ? [] : (['ticked'] as const)),
    'first',
    'random',
  ]
  const usual = ticked.length > 0 ? 'ticked' : (choices[0] ?? 'first')
  const choice = chosen !== null && choices.includes(chosen) ? chosen : usual
  const isOld = result !== null && result.text !== text
  return (
    <section className="derivation-preview" aria-label="Preview">
      <div className="preview-head">
        <Button disabled={isBusy} onClick={() => void run(choice)}>
          {isBusy ? 'Computing…' : 'Preview'}
        </Button>
        <select
          className="input"
          aria-label="Rows of the preview"
          value={choice}
          onChange={(event) => setChosen(event.target.value as RowChoice)}
        >
          {choices.map((each) => (
            <option key={each} value={each}>
              {NAMES[each]}
            </option>
          ))}
        </select>
        <span className="form-hint">Makes real calls, and writes no cell</span>
      </div>
      <p className="preview-summary" role="status">
        {error !== null ? (
          <span className="form-error">{error.message}</span>
        ) : result === null ? null : (
          <>
            {isOld && <span className="preview-old">Of an earlier text. </span>}
            {previewSummary(result.answer, { present: result.present, count: count ?? null }).join(' · ')}
          </>
        )}
      </p>
      {result !== null && result.answer.records.length > 0 && <Rows contract={contract} result={result} />}
    </section>
  )
}

interface Running {
  readonly result: Result | null
  readonly error: Error | null
  readonly isBusy: boolean
  readonly run: (choice: RowChoice) => Promise<void>
}

function usePreview(props: DerivationPreviewProps): Running {
  const { file, text, actor, targetsNow, contractText = null, ticked = NONE, onResult } = props
  const [result, setResult] = useState<Result | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const [runs, setRuns] = useState(0)
  const run = async (choice: RowChoice): Promise<void> => {
    setIsBusy(true)
    setError(null)
    setRuns(runs + 1)
    try {
      const ids = await rowsFor(choice, { targets: targetsNow ?? NONE, ticked })
      const rows = ids === null ? { sample: ROWS, seed: runs } : { record_ids: [...ids] }
      const order: PreviewOf & typeof rows = { file, text, contractText, actor, ...rows }
      const { contractText: contract, actor: _, ...sent } = order
      const answer = await server.definition.preview(
        { ...sent, ...(contract !== null && { contract }) },
        { actor },
      )
      const own = answer.records.map(({ record_id: id }) => id)
      const stored = answer.targets.filter((target) => targetsNow?.includes(target))
      const present = targetsNow === null ? null : await presentOf(own, stored)
      setResult({ text, answer, present })
      if (answer.records.length === 0) setError(new Error('The sheet has no records'))
      onResult?.(answer)
    } catch (thrown) {
      setResult(null)
      setError(thrown instanceof Error ? thrown : new Error(messageOf(thrown)))
    }
    setIsBusy(false)
  }
  return { result, error, isBusy, run }
}

interface RowsProps {
  readonly contract: SheetContract
  readonly result: Result
}

function Rows({ contract, result: { answer, present } }: RowsProps) {
  return (
    <ul className="preview-rows">
      {answer.records.map((row) => (
        <li key={row.record_id}>
          <details>
            <summary>
              <code className="preview-id">{row.record_id}</code>
              <span className="preview-values">
                {answer.targets.map((target) => (
                  <TargetResult
                    key={target}
                    contract={contract}
                    target={target}
                    row={row}
                    present={present?.get(row.record_id)}
                  />
                ))}
                {reasonText(row) !== null && <span className="form-hint">{reasonText(row)}</span>}
              </span>
              {present !== null && isValid(row) && (
                <span className="form-hint preview-changed">
                  {isChanged(row, present.get(row.record_id)) ? 'changed' : 'same'}
                </span>
              )}
            </summary>
            <Details row={row} />
          </details>
        </li>
      ))}
    </ul>
  )
}

interface TargetResultProps {
  readonly contract: SheetContract
  readonly target: string
  readonly row: PreviewRow
  readonly present: Present | undefined
}

function TargetResult({ contract, target, row, present }: TargetResultProps) {
  const type = contract.fieldByName.get(target)?.type ?? null
  const failure = row.failures[target]
  const has = Object.hasOwn(row.values, target)
  if (!has && failure === undefined) return null
  const was = present?.[target] ?? null
  const isOther =
    has && present !== undefined && isChanged({ ...row, values: { [target]: row.values[target] } }, present)
  return (
    <span className="preview-value">
      <span className="form-hint">{contract.titleOf(target)}</span>{' '}
      {failure !== undefined ? (
        <span className="form-error">{failure.error}</span>
      ) : (
        <>
          {isOther && was !== null && (
            <>
              <del>
                <CellValueView type={type} value={was} />
              </del>{' '}
              <span aria-hidden="true">→</span>{' '}
            </>
          )}
          <CellValueView type={type} value={row.values[target]} />
        </>
      )}
    </span>
  )
}

function Details({ row }: { readonly row: PreviewRow }) {
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
