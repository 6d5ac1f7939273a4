import { Tabs } from 'radix-ui'
import { useMemo, useState } from 'react'
import type { PreviewAnswer } from '../../../src/wire/definition/preview.ts'
import type { SheetContract } from '../api/contract.ts'
import { DerivationForm } from '../derivations/forms/derivation-form.tsx'
import { DerivationPreview } from '../derivations/forms/derivation-preview.tsx'
import { YamlEditor } from '../derivations/editor/yaml-editor.tsx'
import { useActor } from '../state/actor.ts'
import { AnotherColumn } from './another-column.tsx'
import { contractTextOf, contractWith, withTargets } from './computed-draft.ts'
import { EMPTY_DRAFT, guessType, type FieldDraft } from './field-draft.ts'

interface ComputedPartProps {
  readonly contract: SheetContract
  /** The columns that are added, the first one first. */
  readonly drafts: readonly FieldDraft[]
  readonly file: string
  readonly kind: string
  readonly text: string
  readonly onText: (text: string) => void
  /** Called with a further column that the derivation fills. */
  readonly onAnother: (draft: FieldDraft) => void
  readonly ticked: readonly string[]
  readonly onPreview: (answer: PreviewAnswer) => void
  readonly onSave: () => void
}

/** The part of the drawer in which the computation of a new column is written, as a form or as text, and tried on rows. */
export function ComputedPart(props: ComputedPartProps) {
  const { contract, drafts, file, kind, text, onText, onAnother, ticked, onPreview, onSave } = props
  const [actor] = useActor()
  const [view, setView] = useState('form')
  const drafted = useMemo(() => contractWith(contract, drafts), [contract, drafts])
  const contractText = useMemo(() => contractTextOf(drafted), [drafted])
  return (
    <>
      <Tabs.Root value={view} onValueChange={setView} activationMode="manual" className="column-tabs">
        <Tabs.List className="panel-tab-list" aria-label="Edit as">
          <Tabs.Trigger value="form">Form</Tabs.Trigger>
          <Tabs.Trigger value="yaml">YAML</Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="form" tabIndex={-1}>
          <DerivationForm
            contract={drafted}
            file={file}
            text={text}
            onText={onText}
            onYaml={() => setView('yaml')}
            actor={actor}
            contractText={contractText}
          />
          {kind !== 'sql' && (
            <AnotherColumn
              names={drafted.fields.map(({ name }) => name)}
              onAdd={(name, title) => {
                onAnother({ ...EMPTY_DRAFT, name, title, type: guessType(name) })
                onText(withTargets(text, (targets) => [...targets, name]))
              }}
            />
          )}
        </Tabs.Content>
        <Tabs.Content value="yaml" tabIndex={-1}>
          <YamlEditor
            text={text}
            label={`Text of ${file}`}
            describedBy="column-plan"
            fault={null}
            onChange={onText}
            onSave={onSave}
            onLeave={() => undefined}
          />
        </Tabs.Content>
      </Tabs.Root>
      <DerivationPreview
        contract={drafted}
        file={file}
        text={text}
        actor={actor}
        targetsNow={null}
        contractText={contractText}
        ticked={ticked}
        onResult={onPreview}
      />
    </>
  )
}
