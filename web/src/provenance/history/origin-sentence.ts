import { httpEvidence, isCall, type HttpEvidence } from '../../../../src/wire/records/evidence.ts'
import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'
import { formatDuration } from '../../ui/format.ts'
import { relativeTime } from '../../ui/time-text.ts'

/** A part of a sentence: text, or an item with its own formatting. */
export type Part =
  | string
  | { readonly is: 'actor'; readonly name: string }
  | { readonly is: 'time'; readonly at: string }
  | { readonly is: 'derivation'; readonly file: string }
  | { readonly is: 'request'; readonly text: string }

export type Sentence = readonly Part[]

/** The context of an entry. */
export interface EntryContext {
  /** Whether a derivation computes the field. */
  readonly derived: boolean
  /** Finds another entry of the cell, such as the one that a revert undid. */
  find(seq: number): ProvenanceEntryAnswer | undefined
}

/** Describes the origin of an entry's value in a sentence. */
export function originSentence(entry: ProvenanceEntryAnswer, context: EntryContext): Sentence {
  return [...action(entry, context), ...by(entry), ...details(entry, context), '.']
}

/** Describes it briefly, without the request and the full stop. */
export function originLine(entry: ProvenanceEntryAnswer, context: EntryContext): Sentence {
  const cached = entry.cached === true ? [', from the cache'] : []
  return [...action(entry, context), ...by(entry), ...cached, ...laterErased(entry)]
}

/** Whether a derivation computed the value of the entry. */
export function isComputed({ source, derivation }: ProvenanceEntryAnswer): boolean {
  return source !== 'revert' && source !== 'contract' && derivation !== undefined
}

/** Whether the value of the entry was erased, or the entry is about an erasure: null is in place of values. */
export function isErased({ source, field, erased_fields: fields }: ProvenanceEntryAnswer): boolean {
  return source === 'erase' || fields?.includes(field) === true
}

function laterErased(entry: ProvenanceEntryAnswer): Sentence {
  return entry.source !== 'erase' && isErased(entry) ? [' — the value was erased later'] : []
}

function action(entry: ProvenanceEntryAnswer, { derived, find }: EntryContext): Sentence {
  const { source, value, file, derivation, reverts } = entry
  switch (source) {
    case 'write':
      if (value === null && !isErased(entry)) return [derived ? 'Override removed' : 'Emptied']
      return [derived ? 'Overridden' : 'Written']
    case 'import':
      // The kind of this name is told apart by its derivation.
      if (derivation !== undefined) return ['Computed by ', { is: 'derivation', file: derivation }]
      return file === undefined ? ['Imported'] : [`Imported from ${file}`]
    case 'contract':
      return ['Converted with its field']
    case 'delete':
      return ['Deleted with its record']
    case 'erase':
      return ['Erased for good']
    case 'revert':
      return reverts !== undefined && find(reverts)?.source === 'delete'
        ? ['Restored with its record']
        : ['Reverted']
    default:
      return derivation === undefined
        ? [`Computed (${source})`]
        : ['Computed by ', { is: 'derivation', file: derivation }]
  }
}

/** A run is on behalf of an actor; other changes are by an actor, or proposed by one and accepted by another. */
function by(entry: ProvenanceEntryAnswer): Sentence {
  const { proposed_by: proposer } = entry
  if (proposer !== undefined) {
    return [
      ' as proposed by ',
      { is: 'actor', name: proposer },
      ', accepted by ',
      { is: 'actor', name: entry.actor },
      ', ',
      { is: 'time', at: entry.at },
    ]
  }
  const word = isComputed(entry) ? 'for' : 'by'
  return [` ${word} `, { is: 'actor', name: entry.actor }, ', ', { is: 'time', at: entry.at }]
}

function details(entry: ProvenanceEntryAnswer, { find }: EntryContext): Sentence {
  const erased = laterErased(entry)
  if (erased.length > 0) return erased
  if (entry.source === 'revert') return undoneText(entry, find)
  if (entry.cached === true)
    return [isCall(entry) ? ' — from the cache, without a call' : ' — from the cache']
  const evidence = httpEvidence(entry)
  const request = briefRequest(evidence)
  return request === null ? [] : [' — ', { is: 'request', text: request }, responseText(evidence)]
}

function undoneText(entry: ProvenanceEntryAnswer, find: EntryContext['find']): Sentence {
  const undone = entry.reverts === undefined ? undefined : find(entry.reverts)
  if (undone === undefined) return []
  const what = isComputed(undone) ? 'computed for' : VERBS[undone.source]
  if (what === undefined) return []
  return [
    `, undoing what was ${what} `,
    { is: 'actor', name: undone.actor },
    ' ',
    { is: 'time', at: undone.at },
  ]
}

const VERBS: Readonly<Record<string, string>> = {
  write: 'written by',
  import: 'imported by',
  delete: 'deleted by',
  revert: 'reverted by',
}

function responseText({ status, duration_ms: duration }: HttpEvidence): string {
  const answer = status === undefined ? '' : ` returned ${status}`
  return duration === undefined ? answer : `${answer} in ${formatDuration(duration)}`
}

/** Returns `GET https://rates.example/…`; null for an entry without a request. */
function briefRequest({ method = 'GET', url }: HttpEvidence): string | null {
  if (url === undefined) return null
  return `${method} ${URL.canParse(url) ? `${new URL(url).origin}/…` : url}`
}

/** Formats a sentence as plain text. */
export function plainSentence(sentence: Sentence, now: number): string {
  return sentence.map((part) => plainPart(part, now)).join('')
}

function plainPart(part: Part, now: number): string {
  if (typeof part === 'string') return part
  switch (part.is) {
    case 'actor':
      return part.name
    case 'time':
      return relativeTime(part.at, now)
    case 'derivation':
      return part.file
    case 'request':
      return part.text
  }
}
