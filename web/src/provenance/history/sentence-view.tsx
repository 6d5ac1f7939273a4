import { Link } from 'wouter'
import { Moment } from '../../ui/moment.tsx'
import type { Part, Sentence } from './origin-sentence.ts'

interface SentenceViewProps {
  readonly sentence: Sentence
  /** Whether files are links; false within a link or button. */
  readonly links?: boolean
}

/** Renders a sentence with times, actors and links. */
export function SentenceView({ sentence, links = true }: SentenceViewProps) {
  return sentence.map((part, index) => (
    // Parts have no keys.
    // oxlint-disable-next-line react/no-array-index-key
    <PartView key={index} part={part} links={links} />
  ))
}

function PartView({ part, links }: { readonly part: Part; readonly links: boolean }) {
  if (typeof part === 'string') return part
  switch (part.is) {
    case 'actor':
      return <strong className="actor-said">{part.name}</strong>
    case 'time':
      return <Moment at={part.at} />
    case 'derivation':
      return links ? <Link href={derivationPath(part.file)}>{part.file}</Link> : part.file
    case 'request':
      return <code className="request-said">{part.text}</code>
  }
}

export function derivationPath(file: string): string {
  return `/derivations?file=${encodeURIComponent(file)}`
}
