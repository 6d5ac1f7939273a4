import { Check, Copy } from 'lucide-react'
import { useMemo, useState } from 'react'
import { IconButton } from '../ui/button.tsx'
import { tellError } from '../ui/toasts.tsx'
import './derivation-text.css'
import { tokenizeYaml, type YamlToken } from './yaml-tokens.ts'

const SHOWN_MS = 1500

/** The text of a YAML file, read-only, highlighted, with line numbers. */
export function DerivationText({ text }: { readonly text: string }) {
  const lines = useMemo(() => tokenizeYaml(text.replace(/\n$/, '')), [text])
  return (
    <div className="derivation-text">
      <CopyButton text={text} />
      {/* A scrollable element must be focusable to be scrolled by keyboard. */}
      <pre tabIndex={0} aria-label="File">
        <code>
          {lines.map((tokens, index) => (
            // oxlint-disable-next-line react/no-array-index-key
            <Line key={index} tokens={tokens} />
          ))}
        </code>
      </pre>
    </div>
  )
}

/** The style sheet adds the line number, so that it is not copied. */
function Line({ tokens }: { readonly tokens: readonly YamlToken[] }) {
  return (
    <span className="line">
      {tokens.map(({ kind, text }, index) =>
        kind === 'text' ? (
          text
        ) : (
          // oxlint-disable-next-line react/no-array-index-key
          <span key={index} className={kind}>
            {text}
          </span>
        ),
      )}
      {'\n'}
    </span>
  )
}

function CopyButton({ text }: { readonly text: string }) {
  const [isDone, setIsDone] = useState(false)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setIsDone(true)
      setTimeout(() => setIsDone(false), SHOWN_MS)
    } catch {
      tellError('The browser blocked copying')
    }
  }
  return (
    <IconButton label={isDone ? 'Copied' : 'Copy'} className="derivation-copy" onClick={() => void copy()}>
      {isDone ? <Check size={15} /> : <Copy size={15} />}
    </IconButton>
  )
}
