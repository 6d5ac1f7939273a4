import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { countQuery } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import './derivation-preview.css'
import { PreviewRows } from './preview-rows-list.tsx'
import { NO_GRID, type RowChoice } from './preview-rows.ts'
import { previewSummary } from './preview-text.ts'
import { isFormulaText, usePreview, type PreviewOptions } from './use-preview.ts'

const NAMES: Readonly<Record<RowChoice, string>> = {
  states: 'Failed, overridden and fresh rows',
  ticked: 'Ticked rows',
  sight: 'Rows in sight',
  first: 'First rows',
  random: 'Random rows',
  varied: 'Varied rows',
}

/** Returns the message of an error; that of a formula is shown with the effect of the change. */
function errorText(error: Error, isLive: boolean): string {
  return isLive && error instanceof ApiError && error.place !== null
    ? 'Not computed: the text has an error.'
    : error.message
}

/** Computes a derivation that is not saved on a few records, and shows what comes out. No cell is written. */
export function DerivationPreview(options: PreviewOptions) {
  const { contract, text, targetsNow, gridRows = NO_GRID } = options
  const [chosen, setChosen] = useState<RowChoice | null>(null)
  const isFormula = useMemo(() => isFormulaText(text), [text])
  const choices: readonly RowChoice[] = [
    ...(targetsNow === null ? [] : (['states'] as const)),
    ...(gridRows.ticked.length === 0 ? [] : (['ticked'] as const)),
    // Calls for as many rows would cost much.
    ...(gridRows.inSight.length === 0 || !isFormula ? [] : (['sight'] as const)),
    'first',
    'varied',
    'random',
  ]
  const usual = gridRows.ticked.length > 0 ? 'ticked' : (choices[0] ?? 'first')
  const choice = chosen !== null && choices.includes(chosen) ? chosen : usual
  const { result, error, isBusy, isLive, run } = usePreview(options, choice)
  const { data: count } = useQuery(countQuery(null))
  const isOld = result !== null && (result.text !== text || error !== null)
  return (
    <section className="derivation-preview" aria-label="Preview">
      <div className="preview-head">
        <Button disabled={isBusy} onClick={() => void run()}>
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
        <span className="form-hint">
          {isLive ? 'Computes as you type, and writes no cell' : 'Makes real calls, and writes no cell'}
        </span>
      </div>
      <div className="preview-summary" role="status">
        {error !== null && <p className="form-error">{errorText(error, isLive)}</p>}
        {result !== null && (
          <p>
            {isOld && <span className="preview-old">Of an earlier text. </span>}
            {previewSummary(result.answer, { present: result.present, count: count ?? null }).join(' · ')}
          </p>
        )}
      </div>
      {result !== null && (
        <div className={isOld ? 'preview-result old' : 'preview-result'}>
          <PreviewRows contract={contract} result={result} />
        </div>
      )}
    </section>
  )
}
