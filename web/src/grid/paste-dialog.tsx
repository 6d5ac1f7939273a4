import { useEffect, useId, useState } from 'react'
import type { AmbiguousColumn } from '../editing/paste.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { countOf } from '../ui/format.ts'
import { showError } from '../ui/toasts.tsx'
import { useLatest } from '../ui/use-latest.ts'
import { copyText, parseText, type Notation } from '../values/value-text.ts'
import type { CellContext } from './interaction/cell-actions.ts'
import { hasId, pasteCells, planOf, type Paste } from './interaction/paste-cells.ts'
import type { CellRange } from './selection/cell-range.ts'
import './paste-dialog.css'

interface PasteDialogProps {
  readonly context: CellContext
  readonly paste: Paste
  readonly onClose: () => void
  readonly onPasted: (range: CellRange) => void
  /** Called when the dialog is gone, to move the focus. */
  readonly onGone: () => void
}

/** The number of texts of a column that are shown with their values. */
const SHOWN_TEXTS = 3

/** Shows how ambiguous texts are read and which records are created, before they are pasted. */
export default function PasteDialog({ context, paste, onClose, onPasted, onGone }: PasteDialogProps) {
  const [notations, setNotations] = useState<ReadonlyMap<string, Notation>>(new Map())
  const gone = useLatest(onGone)
  useEffect(() => () => gone.current(), [gone])
  const plan = planOf(context, paste, notations)
  const { created, ambiguous } = plan
  const withoutId = created.filter((cells) => !hasId(cells)).length
  const confirm = (): void => {
    onClose()
    pasteCells(context, plan, paste.range).then(onPasted, showError)
  }
  return (
    <Dialog
      title="Paste"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" autoFocus onClick={confirm}>
            Paste
          </Button>
        </>
      }
    >
      {ambiguous.map((column) => (
        <NotationChoice
          key={column.field.name}
          column={column}
          onChoose={(notation) => setNotations(new Map(notations).set(column.field.name, notation))}
        />
      ))}
      {created.length > 0 && (
        <p className="paste-created">
          <strong>{countOf(created.length, 'record')}</strong> will be created from the lines below the last
          record.{' '}
          {withoutId > 0 &&
            (withoutId === created.length
              ? 'Their ids are made automatically.'
              : `${countOf(withoutId, 'line')} without an id get one automatically.`)}
        </p>
      )}
    </Dialog>
  )
}

interface NotationChoiceProps {
  readonly column: AmbiguousColumn
  readonly onChoose: (notation: Notation) => void
}

function NotationChoice({ column: { field, texts, notation }, onChoose }: NotationChoiceProps) {
  const name = useId()
  const options: readonly (readonly [label: string, notation: Notation])[] =
    field.type === 'number'
      ? [
          ['Decimal point', { ...notation, decimal: 'point' }],
          ['Decimal comma', { ...notation, decimal: 'comma' }],
        ]
      : [
          ['Day first', { ...notation, order: 'dmy' }],
          ['Month first', { ...notation, order: 'mdy' }],
        ]
  return (
    <fieldset className="paste-column">
      <legend>{field.title}</legend>
      {options.map(([label, option]) => (
        <label key={label}>
          <input
            type="radio"
            name={name}
            checked={option.decimal === notation.decimal && option.order === notation.order}
            onChange={() => onChoose(option)}
          />
          <span>{label}</span>
          <span className="paste-samples">
            {[...new Set(texts)].slice(0, SHOWN_TEXTS).map((text) => (
              <span key={text}>
                {text} → {readAs(field, text, option)}
              </span>
            ))}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

function readAs(field: AmbiguousColumn['field'], text: string, notation: Notation): string {
  const parsed = parseText(field, text, notation)
  return 'value' in parsed ? (copyText(parsed.value) ?? '') : 'not readable'
}
