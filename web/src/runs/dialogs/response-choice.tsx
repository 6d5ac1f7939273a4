import type { RunPlanAnswer } from '../../../../src/wire/runs/materialize.ts'
import { Moment } from '../../ui/moment.tsx'
import { callAgainText, reuseText, type KeptResponses } from '../display/plan-text.ts'

interface ResponseChoiceProps {
  /** The plan without kept responses. */
  readonly again: RunPlanAnswer
  /** The plan with kept responses; null while loading. */
  readonly reusing: RunPlanAnswer | null
  readonly kept: KeptResponses
  readonly reuses: boolean
  readonly onChange: (reuses: boolean) => void
}

/** Chooses whether kept responses replace calls, with both costs. */
export function ResponseChoice({ again, reusing, kept, reuses, onChange }: ResponseChoiceProps) {
  return (
    <fieldset className="run-responses">
      <legend>Responses</legend>
      <label>
        <input type="radio" name="responses" checked={!reuses} onChange={() => onChange(false)} />
        {callAgainText(again)}
      </label>
      <label>
        <input type="radio" name="responses" checked={reuses} onChange={() => onChange(true)} />
        {reuseText(again, reusing)}
      </label>
      <p className="form-hint">
        Received <Moment at={kept.oldest} />
        {kept.newest !== kept.oldest && (
          <>
            {' '}
            to <Moment at={kept.newest} />
          </>
        )}
      </p>
    </fieldset>
  )
}
