import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { useAsOf } from '../state/as-of.ts'
import { copyText } from '../values/value-text.ts'
import { proposedCellsQuery, type ProposedCell, waitingQuery } from './proposal-queries.ts'
import './proposed-mark.css'

/** Returns what is proposed for a cell: `Proposed by agent:x: 5`. */
export function proposedText({ field, proposed_by: by, ...cell }: ProposedCell): string {
  if (field === null) return `Deletion of the record proposed by ${by}`
  if (!('value' in cell)) return `A long value is proposed by ${by}`
  return cell.value === null ? `No value, proposed by ${by}` : `Proposed by ${by}: ${copyText(cell.value)}`
}

/** A mark in the corner of a cell for which a proposal waits. */
export function ProposedMark({ cell }: { readonly cell: ProposedCell }) {
  const text = proposedText(cell)
  return <span className="proposed-mark" role="img" aria-label={text} title={text} />
}

interface ProposedNoteProps {
  readonly recordId: string
  readonly field: string
}

/** The value that is proposed for a cell, with a link to the proposal; nothing where none waits, and in the past. */
export function ProposedNote({ recordId, field }: ProposedNoteProps) {
  const { data: waiting = 0 } = useQuery(waitingQuery)
  const isAsked = useAsOf() === null && waiting > 0
  const { data } = useQuery({ ...proposedCellsQuery([recordId]), enabled: isAsked })
  const cells = isAsked ? data?.get(recordId) : undefined
  const cell = cells?.[field] ?? cells?.['id']
  if (cell === undefined) return null
  return (
    <p className="proposed-note">
      {proposedText(cell)}. <Link href={`/proposals/${cell.proposal}`}>Proposal {cell.proposal}</Link>
    </p>
  )
}
