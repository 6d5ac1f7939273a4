import { Plus } from 'lucide-react'
import { useEffect, useId, useMemo } from 'react'
import type { SheetContract } from '../../api/contract.ts'
import { Button } from '../../ui/button.tsx'
import { useCodeMirror } from '../../ui/use-code-mirror.ts'
import { codeExtensions, offerFields, type CodeMode } from './code-extensions.ts'
import { NO_SECRETS, type Secret } from './secrets.ts'

interface CodeInputProps {
  readonly mode: CodeMode
  readonly contract: SheetContract
  readonly label: string
  readonly hint: string | null
  readonly text: string
  readonly hasLines: boolean
  readonly example: string
  /** The secrets that are offered in headers. */
  readonly secrets?: readonly Secret[]
  /** Whether the input has just been added to type into. */
  readonly takesFocus?: boolean
  readonly onText: (text: string) => void
}

/** An input of a text with placeholders for fields, or of SQL, with its label. */
export function CodeInput({
  mode,
  contract,
  label,
  hint,
  text,
  hasLines,
  example,
  onText,
  secrets = NO_SECRETS,
  takesFocus = false,
}: CodeInputProps) {
  const hintId = useId()
  const extensions = useMemo(
    () => codeExtensions({ mode, contract, secrets, label, describedBy: hintId, hasLines, example }),
    [mode, contract, secrets, label, hintId, hasLines, example],
  )
  const { host, view } = useCodeMirror({ text, extensions, onChange: onText })
  useEffect(() => {
    if (takesFocus) view.current?.focus()
  }, [takesFocus, view])
  const hasSlots = mode === 'url' || mode === 'fields' || mode === 'env'

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
            <kbd>/</kbd> inserts a field{mode === 'env' && ' or a secret'}
          </>
        )}
      </p>
    </div>
  )
}
