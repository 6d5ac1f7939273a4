import { useState, type FormEvent } from 'react'
import type { SheetContract } from '../../api/contract.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import '../../ui/form.css'
import { FormError } from '../../ui/form-error.tsx'
import { draftKey, storeDraft } from './drafts.ts'
import './new-derivation-dialog.css'
import { fileNameFor, freeFields, inputFor, KIND_TEMPLATES, templateText } from '../forms/templates.ts'

interface NewDerivationDialogProps {
  readonly contract: SheetContract
  /** The files that exist. */
  readonly files: readonly string[]
  readonly onClose: () => void
  /** Called with the file whose draft was begun. */
  readonly onBegun: (file: string) => void
}

const FORM = 'new-derivation'

/** Asks for the targets, the kind and the file of a new derivation, and begins its draft from a template. */
export function NewDerivationDialog({ contract, files, onClose, onBegun }: NewDerivationDialogProps) {
  const free = freeFields(contract)
  const [targets, setTargets] = useState<readonly string[]>([])
  const [template, setTemplate] = useState(KIND_TEMPLATES[0])
  const [typed, setTyped] = useState<string | null>(null)
  const file = typed ?? (targets[0] === undefined ? '' : fileNameFor(targets[0]))
  const problem = file === '' ? null : nameProblem(file, files)
  const begin = (event: FormEvent): void => {
    event.preventDefault()
    if (targets.length === 0 || file === '' || problem !== null || template === undefined) return
    const text = templateText(template, { targets, input: inputFor(contract, targets) })
    storeDraft(draftKey(contract.name, file), { text, base: null })
    onBegun(file)
  }
  const choose = (name: string, isChosen: boolean): void =>
    setTargets(isChosen ? [...targets, name] : targets.filter((each) => each !== name))
  return (
    <Dialog
      title="New derivation"
      description="A file that defines how fields are computed. Nothing is saved yet."
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            type="submit"
            form={FORM}
            disabled={targets.length === 0 || file === '' || problem !== null}
          >
            Continue
          </Button>
        </>
      }
    >
      <form id={FORM} className="form new-derivation" onSubmit={begin}>
        <fieldset>
          <legend>Fields to compute</legend>
          {free.length === 0 && (
            <p className="form-hint">Every field is computed already. Add a field to the contract first.</p>
          )}
          <div className="new-derivation-fields">
            {free.map(({ name, title }) => (
              <label key={name}>
                <input
                  type="checkbox"
                  checked={targets.includes(name)}
                  onChange={(event) => choose(name, event.target.checked)}
                />
                <span>{title}</span>
              </label>
            ))}
          </div>
        </fieldset>
        <fieldset>
          <legend>Kind</legend>
          <div className="new-derivation-kinds">
            {KIND_TEMPLATES.map((each) => (
              <label key={each.kind}>
                <input
                  type="radio"
                  name="kind"
                  checked={each === template}
                  onChange={() => setTemplate(each)}
                />
                <span>
                  <strong>{each.name}</strong>
                  <span className="form-hint">{each.description}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        <label>
          File
          <input
            value={file}
            spellCheck={false}
            placeholder="name.yaml"
            aria-describedby="new-derivation-problem"
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        <FormError id="new-derivation-problem" text={problem} />
      </form>
    </Dialog>
  )
}

/** Returns why a new file cannot have a name; null if it can. */
function nameProblem(file: string, files: readonly string[]): string | null {
  if (!file.endsWith('.yaml') || file.startsWith('.') || /[/\\]/.test(file))
    return 'The name ends in .yaml, does not begin with a dot, and has no slash.'
  // Some file systems do not distinguish case.
  return files.some((known) => known.toLowerCase() === file.toLowerCase())
    ? `There is a file ${file} already.`
    : null
}
