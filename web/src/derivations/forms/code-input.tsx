import type { EditorView } from '@codemirror/view'
import { Plus } from 'lucide-react'
import { useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import type { SheetContract } from '../../api/contract.ts'
import { Button } from '../../ui/button.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { useEditorText } from '../../ui/use-editor-text.ts'
import { WrittenTexts } from '../../ui/written-texts.ts'
import { createCodeInput, offerFields, setContract, type CodeMode } from './create-code-input.ts'

interface CodeInputProps {
  readonly mode: CodeMode
  readonly contract: SheetContract
  readonly label: string
  readonly hint: string | null
  readonly text: string
  readonly hasLines: boolean
  readonly example: string
  readonly onText: (text: string) => void
}

/** An input of a text with placeholders for fields, or of SQL, with its label. */
export function CodeInput({ mode, contract, label, hint, text, hasLines, example, onText }: CodeInputProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const initialText = useRef(text)
  const [written] = useState(() => new WrittenTexts())
  const initialContract = useLatest(contract)
  const hintId = useId()
  const onChange = useEffectEvent((now: string) => {
    written.add(now)
    onText(now)
  })
  const hasSlots = mode === 'url' || mode === 'fields' || mode === 'env'

  useEffect(() => {
    if (host.current === null) return
    const editor = createCodeInput(host.current, initialText.current, {
      mode,
      contract: initialContract.current,
      label,
      describedBy: hintId,
      hasLines,
      example,
      onChange: (now) => onChange(now),
    })
    view.current = editor
    return () => {
      initialText.current = editor.state.doc.toString()
      editor.destroy()
    }
  }, [mode, initialContract, label, hintId, hasLines, example])

  useEffect(() => {
    if (view.current !== null) setContract(view.current, mode, contract)
  }, [mode, contract])

  useEditorText(view, text, written)

  return (
    <div className="code-field">
      <div className="code-field-head">
        <span className="form-label" onMouseDown={() => setTimeout(() => view.current?.focus())}>
          {label}
        </span>
        {hasSlots && (
          <Button
            look="quiet"
            icon={<Plus size={13} />}
            aria-label={`Insert a field into ${label}`}
            onClick={() => view.current !== null && offerFields(view.current)}
          >
            Field
          </Button>
        )}
      </div>
      <div ref={host} className={hasLines ? 'code-input lines' : 'code-input'} />
      <p className="form-hint" id={hintId}>
        {hint !== null && <>{hint}. </>}
        {hasSlots && (
          <>
            <kbd>/</kbd> inserts a field
          </>
        )}
      </p>
    </div>
  )
}
