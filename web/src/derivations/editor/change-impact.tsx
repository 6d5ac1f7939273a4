import { Fragment } from 'react'
import type { DefinitionChangeAnswer } from '../../../../src/wire/definition/change.ts'
import type { DerivationAnswer } from '../../../../src/wire/definition/derivations.ts'
import './change-impact.css'
import { impactText } from './impact-text.ts'

interface ChangeImpactProps {
  readonly effect: DefinitionChangeAnswer
  readonly derivations: readonly DerivationAnswer[]
}

/** The effect of a change on cells, in sentences. */
export function ChangeImpact({ effect, derivations }: ChangeImpactProps) {
  return <ChangeSentences sentences={impactText(effect, derivations)} />
}

/** Sentences on a change, with names in backquotes; the first matters most. */
export function ChangeSentences({ sentences }: { readonly sentences: readonly string[] }) {
  return (
    <ul className="change-impact">
      {sentences.map((sentence) => (
        <li key={sentence}>
          <Sentence text={sentence} />
        </li>
      ))}
    </ul>
  )
}

/** A text with names in backquotes. */
function Sentence({ text }: { readonly text: string }) {
  return text.split('`').map((part, index) =>
    index % 2 === 1 ? (
      // oxlint-disable-next-line react/no-array-index-key
      <code key={index}>{part}</code>
    ) : (
      // oxlint-disable-next-line react/no-array-index-key
      <Fragment key={index}>{part}</Fragment>
    ),
  )
}
