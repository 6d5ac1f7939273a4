import { httpEvidence, otherEvidence } from '../../../wire/records/evidence.ts'
import { stepLines } from '../../../wire/records/steps-text.ts'
import { dollars } from '../../terminal/progress-line.ts'
import type { ProvenanceEntryAnswer } from '../../../wire/records/provenance.ts'

/** Returns the evidence of a computed value in one line: `GET https://…`, the steps tried, or each member of another kind; null for none. */
export function entryDetails(entry: ProvenanceEntryAnswer): string | null {
  const { method, url } = httpEvidence(entry)
  if (url !== undefined) return `${method ?? ''} ${url}`
  const evidence = otherEvidence(entry)
  const steps = stepLines(new Map(evidence).get('steps'), dollars)
  if (steps !== null) return steps.join('; ')
  const members = evidence.map(([name, value]) => `${name}: ${textOf(value)}`)
  return members.length === 0 ? null : members.join(', ')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
