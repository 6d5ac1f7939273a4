import { isCall, otherEvidence } from '../../../../src/wire/records/evidence.ts'
import { stepLines } from '../../../../src/wire/records/steps-text.ts'
import { formatMoney } from '../../ui/format.ts'
import { modelEvidence, type EvidenceFact } from './model-evidence.ts'
import type { ProvenanceEntryAnswer } from '../../../../src/wire/records/provenance.ts'

/** Returns the evidence of a kind other than `http`, each member with its name in words; answers of models and steps of fallbacks as people read them. */
export function entryEvidence(entry: ProvenanceEntryAnswer): readonly EvidenceFact[] {
  const evidence = otherEvidence(entry)
  const { facts, others } = modelEvidence(evidence) ?? { facts: [], others: evidence }
  const steps = stepLines(new Map(evidence).get('steps'), formatMoney)
  const shown = steps === null ? others : others.filter(([name]) => name !== 'steps' && name !== 'step')
  return [
    ...(steps === null ? [] : [{ name: 'Steps', text: steps.join('\n') }]),
    ...facts,
    ...shown.map(([name, value]) => ({ name: inWords(name), text: inText(value) })),
  ]
}

/** Returns whether a computed value came from the cache, as the kind of its derivation computes; null for any other entry. */
export function cachedText(entry: ProvenanceEntryAnswer): string | null {
  const { cached } = entry
  if (cached === undefined) return null
  const [yes, no] = isCall(entry) ? ['Yes, without a call', 'No, with a call'] : ['Yes', 'No']
  return cached ? yes : no
}

function inWords(name: string): string {
  const words = name.replaceAll('_', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** Returns a value as text: a list without brackets, and an object with a line for each member, if what they contain is plain. */
function inText(value: unknown): string {
  if (isPlain(value)) return String(value)
  const members = Object.entries(value as object)
  if (!members.every(([, member]) => isPlain(member))) return JSON.stringify(value, null, 2)
  if (Array.isArray(value)) return value.join(', ')
  return members.map(([name, member]) => `${name}: ${String(member)}`).join('\n')
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}
