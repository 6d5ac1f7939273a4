import type { FieldType, SheetContract } from '../../api/contract.ts'
import { WordDiff } from '../../provenance/diff/diff-view.tsx'
import { CellValueView } from '../../values/cell-value-view.tsx'
import { PreviewDetails } from './preview-details.tsx'
import { isChanged, isValid, reasonText, type Present, type PreviewRow } from './preview-text.ts'
import type { PreviewResult } from './use-preview.ts'

const SHOWN_INPUTS = 2
const SHOWN_CHARACTERS = 40

interface PreviewRowsProps {
  readonly contract: SheetContract
  readonly result: PreviewResult
}

/** The records of a preview: for a new derivation their values, otherwise also the present ones. */
export function PreviewRows({ contract, result: { answer, present } }: PreviewRowsProps) {
  return (
    <ul className="preview-rows">
      {answer.records.map((row) => (
        <li key={row.record_id}>
          <details>
            <summary>
              <code className="preview-id">{row.record_id}</code>
              {present !== null && <Inputs row={row} />}
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
            <PreviewDetails row={row} />
          </details>
        </li>
      ))}
    </ul>
  )
}

/** The beginnings of the first inputs of a record; all of them are in its details. */
function Inputs({ row: { inputs } }: { readonly row: PreviewRow }) {
  const shown = Object.values(inputs)
    .slice(0, SHOWN_INPUTS)
    .map((value) => plainText(value).slice(0, SHOWN_CHARACTERS))
  return shown.length === 0 ? null : <span className="preview-inputs">{shown.join(', ')}</span>
}

function plainText(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'empty'
  return typeof value === 'string' ? value : JSON.stringify(value)
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
  const value = row.values[target]
  const isOther =
    has && present !== undefined && isChanged({ ...row, values: { [target]: row.values[target] } }, present)
  return (
    <span className="preview-value">
      <span className="form-hint">{contract.titleOf(target)}</span>{' '}
      {failure !== undefined ? (
        <span className="form-error">{failure.error}</span>
      ) : (
        <>
          {isOther && was !== null ? (
            <Change type={type} was={was} is={value} />
          ) : (
            <CellValueView type={type} value={value} />
          )}
        </>
      )}
    </span>
  )
}

interface ChangeProps {
  readonly type: FieldType | null
  readonly was: unknown
  readonly is: unknown
}

/** The present value and the new one; of texts word by word. */
function Change({ type, was, is }: ChangeProps) {
  if (typeof was === 'string' && typeof is === 'string' && was.includes(' ') && is.includes(' '))
    return <WordDiff was={was} is={is} />
  return (
    <>
      <del>
        <CellValueView type={type} value={was} />
      </del>{' '}
      <span aria-hidden="true">→</span> <CellValueView type={type} value={is} />
    </>
  )
}
