import { useState, type ReactNode } from 'react'
import type { PreviewAnswer } from '../../../src/wire/definition/preview.ts'
import type { SheetContract } from '../api/contract.ts'
import { EditAsTabs } from '../derivations/editor/edit-as-tabs.tsx'
import type { Fault } from '../derivations/editor/fault-line.ts'
import { YamlEditor } from '../derivations/editor/yaml-editor.tsx'
import { DerivationForm } from '../derivations/forms/derivation-form.tsx'
import { DerivationPreview } from '../derivations/preview/derivation-preview.tsx'
import type { GridRows } from '../derivations/preview/preview-rows.ts'
import { useActor } from '../state/actor.ts'
import { PLAN } from './plan-status.tsx'

interface ComputedPartProps {
  /** The contract, with fields that are not saved yet. */
  readonly contract: SheetContract
  /** The text of that contract; null for the present one. */
  readonly contractText: string | null
  readonly file: string
  readonly text: string
  readonly onText: (text: string) => void
  /** The fields that the derivation fills on the server; null for a new one. */
  readonly targetsNow: readonly string[] | null
  /** The error at a line of the text; null for none. */
  readonly fault: Fault | null
  readonly gridRows: GridRows
  readonly onPreview?: (answer: PreviewAnswer) => void
  /** Called when a field gets its value from a place in a response, with the value there. */
  readonly onPicked?: ((field: string, value: unknown) => void) | undefined
  readonly onSave: () => void
  /** The part below the form. */
  readonly children?: ReactNode
}

/** The part of the drawer in which the computation of a column is written, as a form or as text, and tried on rows. */
export function ComputedPart(props: ComputedPartProps) {
  const { contract, contractText, file, text, onText, targetsNow, fault, gridRows, onPreview, onSave } = props
  const [actor] = useActor()
  const [view, setView] = useState('form')
  return (
    <>
      <EditAsTabs
        view={view}
        onView={setView}
        className="column-tabs"
        form={
          <>
            <DerivationForm
              contract={contract}
              file={file}
              text={text}
              onText={onText}
              onYaml={() => setView('yaml')}
              actor={actor}
              contractText={contractText}
              onPicked={props.onPicked}
            />
            {props.children}
          </>
        }
        yaml={
          <YamlEditor
            text={text}
            label={`Text of ${file}`}
            describedBy={PLAN}
            fault={fault}
            onChange={onText}
            onSave={onSave}
            onLeave={() => document.querySelector<HTMLElement>('.column-drawer > footer button')?.focus()}
          />
        }
      />
      <DerivationPreview
        contract={contract}
        file={file}
        text={text}
        actor={actor}
        targetsNow={targetsNow}
        contractText={contractText}
        gridRows={gridRows}
        onResult={onPreview}
      />
    </>
  )
}
