import { httpEvidence, otherEvidence } from '../../../wire/records/evidence.ts'
import { stepLines } from '../../../wire/records/steps-text.ts'
import { dollars } from '../../terminal/progress-line.ts'
import type { ProvenanceEntryAnswer } from '../../../wire/records/provenance.ts'

/** Returns the evidence of a computed value in one line: `GET https://…`, the steps tried, or each member of another kind; null for none. */
export function entryDetails(entry: ProvenanceEntryAnswer): string | null {
  const { method, url } = httpEvidence(entry)
  if (url !== undefined) return `${method ?? ''} ${url}`
  const steps = stepsText(entry)
  if (steps !== null) return steps
  const members = otherEvidence(entry).map(([name, value]) => `${name}: ${textOf(value)}`)
  return members.length === 0 ? null : members.join(', ')
}

/** Returns the steps that a fallback tried in one line; null for any other entry. */
export function stepsText(entry: ProvenanceEntryAnswer): string | null {
  return stepLines(new Map(otherEvidence(entry)).get('steps'), dollars)?.join('; ') ?? null
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
