import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { httpEvidence, type HttpEvidence } from '../../../../src/wire/records/evidence.ts'
import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'
import type { SheetField } from '../../api/contract.ts'
import { formatCount, formatDuration } from '../../ui/format.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import type { CellRef } from '../../state/view-state.ts'
import { useAsOf } from '../../state/as-of.ts'
import './origin.css'
import { DownloadProof } from './download-proof.tsx'
import { cachedText, entryEvidence } from './entry-evidence.ts'
import { originSentence } from '../history/origin-sentence.ts'
import { derivationPath, SentenceView } from '../history/sentence-view.tsx'

interface OriginProps {
  readonly field: SheetField
  readonly cell: CellRef
  /** Newest first. */
  readonly history: readonly ProvenanceEntryAnswer[]
}

/** The origin of the present value. */
export function Origin({ field, cell, history }: OriginProps) {
  const isPast = useAsOf() !== null
  const [entry] = history
  return (
    <section className="panel-section origin" aria-labelledby="origin-title">
      <h3 id="origin-title">Origin</h3>
      {entry === undefined ? (
        <p className="panel-faint">{nothingKnown(field)}</p>
      ) : (
        <>
          <p className="origin-sentence">
            <SentenceView
              sentence={originSentence(entry, {
                derived: field.derived !== null,
                find: (seq) => history.find((other) => other.seq === seq),
              })}
            />
          </p>
          <EntryFacts entry={entry} />
          {!isPast && <DownloadProof cell={cell} />}
        </>
      )}
    </section>
  )
}

function nothingKnown({ derived }: SheetField): string {
  return derived === null ? 'Not written since the record was created.' : 'Never computed or written.'
}

/** The length of a text that may be scrolled, also by keyboard. */
const LONG_TEXT = 200

/** The details of a provenance entry. */
function EntryFacts({ entry }: { readonly entry: ProvenanceEntryAnswer }) {
  const cached = cachedText(entry)
  const response = httpEvidence(entry)
  const { method = 'GET', url, status } = response
  return (
    <dl className="facts">
      {url !== undefined && (
        <Fact name="Request" copy={url} what="the URL">
          <code className="fact-url">
            <span className="fact-method">{method}</span> {url}
          </code>
        </Fact>
      )}
      {status !== undefined && <Fact name="Response">{responseText(response)}</Fact>}
      {entryEvidence(entry).map(({ name, text }) => (
        <Fact key={name} name={name}>
          <div className="fact-text" {...(text.length > LONG_TEXT && { tabIndex: 0 })}>
            {text}
          </div>
        </Fact>
      ))}
      {cached !== null && <Fact name="Cached">{cached}</Fact>}
      {entry.derivation !== undefined && (
        <Fact name="Derivation">
          <Link href={derivationPath(entry.derivation)}>{entry.derivation}</Link>
        </Fact>
      )}
      {entry.run_id !== undefined && (
        <Fact name="Run">
          <Link href={`/runs/${entry.run_id}`}>Run {entry.run_id}</Link>
        </Fact>
      )}
      {entry.proposal !== undefined && (
        <Fact name="Proposal">
          <Link href={`/proposals/${entry.proposal}?state=all`}>Proposal {entry.proposal}</Link>
        </Fact>
      )}
      {entry.input_hash !== undefined && (
        <Fact name="Input hash" copy={entry.input_hash} what="the input hash">
          <code title={entry.input_hash}>{shortHash(entry.input_hash)}</code>
        </Fact>
      )}
      <Fact name="Log entry">{formatCount(entry.seq)}</Fact>
    </dl>
  )
}

interface FactProps {
  readonly name: string
  readonly children: ReactNode
  readonly copy?: string | undefined
  readonly what?: string
}

function Fact({ name, children, copy, what = '' }: FactProps) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>
        {children}
        {copy !== undefined && <CopyButton text={copy} what={what} />}
      </dd>
    </div>
  )
}

function responseText({ status, duration_ms: duration }: HttpEvidence): string {
  return duration === undefined ? String(status) : `${status} in ${formatDuration(duration)}`
}

/** Shortens a hash. */
export function shortHash(hash: string): string {
  const [algorithm, digits] = hash.includes(':') ? hash.split(':') : ['', hash]
  const short = `${(digits ?? '').slice(0, 12)}…`
  return algorithm === '' ? short : `${algorithm}:${short}`
}
