import { useQuery } from '@tanstack/react-query'
import type { DefinitionChangeAnswer } from '../../../src/wire/definition/change.ts'
import type { ContractChangeAnswer } from '../../../src/wire/definition/contract-changes.ts'
import { derivationsQuery } from '../api/queries.ts'
import { ChangeSentences } from '../derivations/editor/change-impact.tsx'
import { impactText } from '../derivations/editor/impact-text.ts'
import { countOf } from '../ui/format.ts'
import { planText } from './plan-text.ts'

/** The number of values that do not fit of which the page shows each. */
const SHOWN = 5

interface PlanViewProps {
  readonly effect: DefinitionChangeAnswer | ContractChangeAnswer
  /** The derivation file that the person changes; null for none. */
  readonly editedFile?: string | null | undefined
  /** The sentence for a change without an effect on values. */
  readonly without: string
}

/** The effect of a change on values and cells: sentences, and the values that do not fit. */
export function PlanView({ effect, editedFile = null, without }: PlanViewProps) {
  const { data } = useQuery(derivationsQuery)
  const sentences = [
    ...planText(effect, editedFile),
    ...(effect.targets.length === 0 ? [] : impactText(effect, data?.derivations ?? [])),
  ]
  const misfits = effect.fields.flatMap((field) => field.misfits)
  const lost = effect.fields.reduce(
    (total, field) => total + (field.change === 'converted' ? field.lost : 0),
    0,
  )
  return (
    <>
      <ChangeSentences sentences={sentences.length === 0 ? [without] : sentences} />
      {misfits.length > 0 && (
        <table className="plan-misfits">
          <caption>
            {countOf(lost, 'value')} that {lost === 1 ? 'does' : 'do'} not fit
          </caption>
          <thead>
            <tr>
              <th scope="col">Record</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            {misfits.slice(0, SHOWN).map(({ record_id: id, value, error }) => (
              <tr key={id} title={error}>
                <td>{id}</td>
                <td>{typeof value === 'string' ? value : JSON.stringify(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {lost > SHOWN && <p className="form-hint">and {countOf(lost - SHOWN, 'other value')}.</p>}
    </>
  )
}
