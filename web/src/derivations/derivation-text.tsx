import { useMemo } from 'react'
import { CopyButton } from '../ui/copy-button.tsx'
import './derivation-text.css'
import { tokenizeYaml, type YamlToken } from './editor/yaml-tokens.ts'

/** The text of a YAML file, read-only, highlighted, with line numbers. */
export function DerivationText({ text }: { readonly text: string }) {
  const lines = useMemo(() => tokenizeYaml(text.replace(/\n$/, '')), [text])
  return (
    <div className="derivation-text">
      <CopyButton text={text} what="the file" className="derivation-copy" />
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
