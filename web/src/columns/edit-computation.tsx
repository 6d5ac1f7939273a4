import { useMemo, useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import {
  toSheetContract,
  type ContractDocument,
  type SheetContract,
  type SheetField,
} from '../api/contract.ts'
import { FileVersions } from '../derivations/editor/file-versions.tsx'
import { OutdatedDraft } from '../derivations/editor/outdated-draft.tsx'
import type { FileDraft } from '../derivations/editor/use-file-draft.ts'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'
import { showSuccess } from '../ui/toasts.tsx'
import type { GridRows } from '../derivations/preview/preview-rows.ts'
import { contractTextOf } from './computed-draft.ts'
import { ComputedPart } from './computed-part.tsx'
import { withChangedField } from './contract-with.ts'
import type { FieldDraft } from './field-draft.ts'
import { useFault } from './use-fault.ts'

/** The derivation of a field, and its text in this browser, which is kept until it is saved or discarded. */
export interface EditedComputation {
  readonly file: string
  readonly draft: FileDraft
}

interface EditComputationProps {
  readonly contract: SheetContract
  readonly field: SheetField
  /** The settings of the field, where they are changed and the computation can be tried with them; null for the present ones. */
  readonly draft: { readonly before: FieldDraft; readonly draft: FieldDraft } | null
  readonly computation: EditedComputation
  /** The error with which the service refuses the change; null for none. */
  readonly error: Error | null
  readonly gridRows: GridRows
  readonly onSave: () => void
}

/** The computation of an existing field. Its text stays in this browser until it is saved or discarded. */
export function EditComputation(props: EditComputationProps) {
  const { contract, field, draft: settings, computation, error, gridRows, onSave } = props
  const { file, draft } = computation
  const drafted = useMemo(() => {
    if (settings === null) return null
    const document = withChangedField(contract.document, field.name, settings)
    return toSheetContract(document as unknown as ContractDocument, contract.dialect)
  }, [contract, field, settings])
  const targets = contract.fields.flatMap(({ name, derived }) => (derived?.derivation === file ? [name] : []))
  const fault = useFault(error, file)
  const discard = (): void => {
    const undo = draft.discard()
    showSuccess(`Discarded the changes of ${file}`, { name: 'Undo', run: undo })
  }
  const shared = targets.filter((name) => name !== field.name).map((name) => contract.titleOf(name))
  return (
    <section className="column-computation" aria-label="Computation">
      <header>
        <h3>Computation</h3>
        {draft.isDirty && !draft.isOutdated && (
          <Button look="quiet" onClick={discard}>
            Discard changes
          </Button>
        )}
      </header>
      <p className="form-hint">
        <code>{file}</code>
        {shared.length > 0 && ` also fills ${shared.join(', ')}`}
      </p>
      <FormError text={draft.error === null ? null : messageOf(draft.error)} />
      {draft.isOutdated ? (
        <OutdatedDraft
          file={file}
          text={draft.text}
          base={draft.base}
          current={draft.current}
          onKeep={draft.keepMine}
          onDiscard={discard}
        />
      ) : draft.isLoaded ? (
        <>
          <ComputedPart
            contract={drafted ?? contract}
            contractText={drafted === null ? null : contractTextOf(drafted)}
            file={file}
            text={draft.text}
            onText={draft.set}
            targetsNow={targets}
            fault={fault}
            gridRows={gridRows}
            onSave={onSave}
          />
          <Versions file={file} draft={draft} />
        </>
      ) : (
        <div aria-busy={draft.error === null} />
      )}
    </section>
  )
}

/** The earlier texts of the derivation. Restoring one begins a change, whose effect is seen before it is saved. */
function Versions({ file, draft }: EditedComputation) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="column-versions" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>Versions</summary>
      {isOpen && <FileVersions file={file} hasDraft={draft.isDirty} onRestore={draft.set} />}
    </details>
  )
}
