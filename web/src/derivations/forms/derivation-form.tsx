import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { YamlPath } from '../../../../src/contract/yaml/edit/yaml-edit.ts'
import type { SheetContract } from '../../api/contract.ts'
import { AddSelect } from './add-select.tsx'
import { freeFields, inputFor, KIND_TEMPLATES, templateText } from './templates.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import '../../ui/form.css'
import './derivation-form.css'
import { useFormEditing, type FormPart } from './form-context.ts'
import { memberOf, membersAt, readForm, textOf } from './form-text.ts'
import { KIND_FIELDS } from './kind-fields.ts'
import { KindFieldsForm } from './kind-fields-form.tsx'
import { mapTarget, mappingOf, setTargets } from './mapping.ts'
import { isFormula, namesOf, stepsOf } from './member-forms.ts'
import { NamesInput } from './names-input.tsx'
import type { PreviewOf } from './preview-of.ts'
import { TryRow } from './try-row.tsx'

interface DerivationFormProps {
  /** The contract, with fields that are not saved yet. */
  readonly contract: SheetContract
  /** The name of the file. */
  readonly file: string
  /** The text of the file, which the form edits in place. Its kind decides which fields the form has. */
  readonly text: string
  readonly onText: (text: string) => void
  /** Called to show the text itself, for what the form cannot show. */
  readonly onYaml: () => void
  readonly actor: string
  /** The text of a contract that is not saved, for trying a row; null for the present one. */
  readonly contractText?: string | null
  /** Called when a field gets its value from a place in a response, with the value there. */
  readonly onPicked?: ((field: string, value: unknown) => void) | undefined
}

/** A form for the text of a derivation file. */
export function DerivationForm(props: DerivationFormProps) {
  const { contract, file, text, onText, onYaml, actor, contractText = null, onPicked } = props
  const reading = useMemo(() => readForm(text), [text])
  const { edit, problem } = useFormEditing(text, onText)
  if (!('members' in reading)) {
    return <Unreadable problem={reading.problem} onYaml={onYaml} />
  }
  const { members } = reading
  const kind = textOf(members, 'kind')
  if (!Object.hasOwn(KIND_FIELDS, kind)) {
    const name = kind === '' ? 'The file has no kind.' : `There is no form for the kind ${kind}.`
    return <Unreadable problem={name} onYaml={onYaml} />
  }
  const targets = namesOf(memberOf(members, 'targets'))
  const part: FormPart = { contract, targets, at: [], members, edit }
  const preview: PreviewOf = { file, text, contractText, actor }
  const choices = freeFields(contract)
  return (
    <div className="form derivation-form">
      <NamesInput
        label="Fills"
        hint={null}
        names={targets}
        choices={isFormula(members) ? [] : choices}
        contract={contract}
        least={1}
        onNames={(names) => edit((now) => setTargets(now, names))}
      />
      <PartForm part={part} isStep={false} preview={preview} onYaml={onYaml} onPicked={onPicked} />
      {kind === 'first' && <Steps part={part} preview={preview} onYaml={onYaml} />}
      {problem !== null && (
        <p className="form-error" role="alert">
          Not written: {problem}
        </p>
      )}
    </div>
  )
}

function Unreadable({ problem, onYaml }: { readonly problem: string; readonly onYaml: () => void }) {
  return (
    <div className="form derivation-form">
      <p className="form-error" role="alert">
        The form cannot show this file. {problem}
      </p>
      <div>
        <Button onClick={onYaml}>Edit as YAML</Button>
      </div>
    </div>
  )
}

interface PartFormProps {
  readonly part: FormPart
  readonly isStep: boolean
  readonly preview: PreviewOf
  readonly onYaml: () => void
  readonly onPicked?: DerivationFormProps['onPicked']
}

function PartForm({ part, isStep, preview, onYaml, onPicked }: PartFormProps) {
  const { contract, targets, at, members, edit } = part
  const kind = textOf(members, 'kind')
  const [picked, setPicked] = useState<string | null>(null)
  const [hasAnswer, setHasAnswer] = useState(false)
  const field = (KIND_FIELDS[kind] ?? []).find((each) => each.type === 'mapping')
  const target = picked !== null && targets.includes(picked) ? picked : (targets[0] ?? null)
  const pick = { target: hasAnswer ? target : null, onTarget: setPicked }
  const choose = (path: string, value: unknown): void => {
    if (field?.type !== 'mapping' || target === null) return
    edit((file) => [mapTarget(field, membersAt(file, at), { at, targets, target, value: path })])
    onPicked?.(target, value)
    // Then the next field, so that one response fills several by one click each.
    const index = targets.indexOf(target)
    setPicked(targets[(index + 1) % targets.length] ?? null)
  }
  return (
    <KindFieldsForm part={part} isStep={isStep} pick={pick} onYaml={onYaml}>
      {kind === 'http' && !isStep && target !== null && (
        <TryRow
          preview={preview}
          fills={contract.titleOf(target)}
          onAnswer={() => {
            setHasAnswer(true)
            if (field?.type === 'mapping' && picked === null) {
              const mapping = mappingOf(field, members, targets)
              setPicked(targets.find((each) => mapping.get(each) === each) ?? targets[0] ?? null)
            }
          }}
          onPick={choose}
        />
      )}
    </KindFieldsForm>
  )
}

interface StepsProps {
  readonly part: FormPart
  readonly preview: PreviewOf
  readonly onYaml: () => void
}

/** The steps of a derivation of kind `first`. */
function Steps({ part, preview, onYaml }: StepsProps) {
  const { members, edit, contract, targets } = part
  const steps = stepsOf(members)
  const kinds = KIND_TEMPLATES.filter(({ kind }) => kind !== 'first')
  const add = (kind: string): void =>
    edit((file) => {
      const template = kinds.find((each) => each.kind === kind)
      if (template === undefined) return []
      const text = templateText(template, { targets, input: inputFor(contract, targets) })
      const reading = readForm(text)
      if (!('members' in reading)) return []
      const { targets: _, ...value } = reading.members
      const index = stepsOf(file).length
      if (!Array.isArray(memberOf(file, 'steps')))
        return [{ op: 'set', path: ['steps'], value: [value] as never }]
      return [{ op: 'insert', path: ['steps', index], values: [value] }]
    })
  return (
    <>
      {steps.map((step, index) => {
        const at: YamlPath = ['steps', index]
        const kind = textOf(step, 'kind')
        const name = kinds.find((each) => each.kind === kind)?.name ?? kind
        return (
          // oxlint-disable-next-line react/no-array-index-key
          <fieldset key={`${index} ${kind}`} className="form-step">
            <legend>
              Step {index + 1}: {name}
            </legend>
            <div className="form-step-actions">
              <IconButton
                label={`Move step ${index + 1} up`}
                disabled={index === 0}
                onClick={() => edit(() => [{ op: 'move', path: at, to: index - 1 }])}
              >
                <ArrowUp size={15} />
              </IconButton>
              <IconButton
                label={`Move step ${index + 1} down`}
                disabled={index === steps.length - 1}
                onClick={() => edit(() => [{ op: 'move', path: at, to: index + 1 }])}
              >
                <ArrowDown size={15} />
              </IconButton>
              <IconButton
                label={`Remove step ${index + 1}`}
                disabled={steps.length === 1}
                onClick={() => edit(() => [{ op: 'remove', path: at }])}
              >
                <X size={15} />
              </IconButton>
            </div>
            <div className="form">
              <PartForm part={{ ...part, at, members: step }} isStep preview={preview} onYaml={onYaml} />
            </div>
          </fieldset>
        )
      })}
      <div className="form-add">
        <Plus size={14} aria-hidden="true" />
        <AddSelect
          label="Add a step"
          text="Add a step…"
          options={kinds.map(({ kind, name }) => ({ value: kind, name }))}
          onAdd={add}
        />
      </div>
    </>
  )
}
