import type { ImportAnswer } from '../../../src/wire/records/import.ts'
import type { SheetContract } from '../api/contract.ts'
import { ValueChange } from '../provenance/diff/value-change.tsx'
import { countOf, formatCount } from '../ui/format.ts'
import { CellValueView } from '../values/cell-value-view.tsx'
import { importCounts } from './import-file.ts'

interface ImportEffectProps {
  readonly contract: SheetContract
  /** The result of a dry run; null while it is unknown. */
  readonly effect: ImportAnswer | null
  /** Whether it is that of the present choices. */
  readonly isCurrent: boolean
  /** The fields that the import would add. */
  readonly added: readonly { readonly name: string }[]
}

/** Shows what an import would change, and the values that do not fit. */
export function ImportEffect({ contract, effect, isCurrent, added }: ImportEffectProps) {
  if (effect === null) {
    return (
      <p role="status" aria-busy="true">
        Checking all records…
      </p>
    )
  }
  const { faults, fault_count: faultCount, guesses, preview } = effect
  return (
    <section className="import-effect" aria-label="Effect" aria-busy={!isCurrent}>
      <p role="status">
        <b>{effectText(effect)}</b>
        {added.length > 0 && ` New fields: ${added.map(({ name }) => name).join(', ')}.`}
        {!isCurrent && ' Checking again…'}
      </p>
      {guesses.length > 0 && (
        <ul className="import-guesses" aria-label="Guesses about the file">
          {guesses.map((guess) => (
            <li key={guess}>{guess}</li>
          ))}
        </ul>
      )}
      {faultCount > 0 && (
        <>
          <p className="form-error">
            {countOf(faultCount, 'value does', 'values do')} not fit. Correct the file, or map the columns
            differently.
          </p>
          <ul className="import-faults" aria-label="Values that do not fit">
            {faults.map(({ place, record_id: id, field, message }) => (
              <li key={`${place} ${field} ${message}`}>
                <code>{place}</code> {id !== null && `(${id}) `}
                <b>{contract.titleOf(field)}</b>: {message}
              </li>
            ))}
            {faultCount > faults.length && <li>and {formatCount(faultCount - faults.length)} more</li>}
          </ul>
        </>
      )}
      {preview.length > 0 && <Preview contract={contract} preview={preview} />}
    </section>
  )
}

function Preview({ contract, preview }: Pick<ImportEffectProps, 'contract'> & Pick<ImportAnswer, 'preview'>) {
  return (
    <div className="import-table preview" tabIndex={0} role="region" aria-label="First changes">
      <table>
        <tbody>
          {preview.map(({ record_id: id, change, fields }) => (
            <tr key={id}>
              <th scope="row">
                {id} <small className={change}>{change === 'create' ? 'new' : 'changes'}</small>
              </th>
              <td>
                <dl>
                  {fields
                    .filter(({ field }) => field !== 'id')
                    .map(({ field, was, value }) => (
                      <div key={field}>
                        <dt>{contract.titleOf(field)}</dt>
                        <dd>
                          {change === 'create' ? (
                            <CellValueView
                              type={contract.fieldByName.get(field)?.type ?? null}
                              value={value}
                            />
                          ) : (
                            <ValueChange
                              type={contract.fieldByName.get(field)?.type ?? null}
                              was={was}
                              is={value}
                            />
                          )}
                        </dd>
                      </div>
                    ))}
                </dl>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function effectText(effect: ImportAnswer): string {
  const { records, unchanged } = effect
  if (records === 0) return 'The file has no records.'
  if (unchanged === records) return 'The sheet has all of these values already.'
  return `${importCounts(effect)}.`
}
