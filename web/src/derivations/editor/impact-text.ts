import type { DefinitionChangeAnswer } from '../../../../src/wire/definition/change.ts'
import { recomputingMessage } from '../../../../src/wire/definition/recomputing-message.ts'
import { countOf, formatCount, formatMoney } from '../../ui/format.ts'

type Target = DefinitionChangeAnswer['targets'][number]
type Counts = NonNullable<Target['after']>

/** The states that cells become, by what matters most. */
const STATES = ['stale', 'missing', 'failed', 'fresh'] as const

/** A derivation with the fields that it connects. */
interface Connection {
  readonly inputs: readonly string[]
  readonly targets: readonly string[]
}

/** The members of the effect of a change that its sentences need. */
interface Effect extends Pick<DefinitionChangeAnswer, 'targets' | 'records'> {
  readonly recomputing?: DefinitionChangeAnswer['recomputing'] | undefined
}

/** The sentences that say what a change does; names are in backquotes. */
export function impactText(
  { targets, records, recomputing }: Effect,
  derivations: readonly Connection[],
): readonly string[] {
  const sentences = [
    ...targets.flatMap(addedText),
    ...removedText(targets),
    ...statesText(targets),
    ...keptText(targets),
    ...followersText(targets, derivations),
  ]
  const cost = recomputingMessage(recomputing, {
    money: formatMoney,
    calls: (calls) => countOf(calls, 'call'),
  })
  if (sentences.length > 0) return cost === '' ? sentences : [...sentences, cost]
  return [records === 0 ? 'The sheet has no records.' : 'No cell changes its state.']
}

/** The number of cells that a change makes stale. */
export function madeStale(targets: readonly Target[]): number {
  return gainOf(targets, 'stale')
}

/** The fields that have stale or missing cells after a change. */
export function pendingTargets(targets: readonly Target[]): string[] {
  return targets
    .filter(({ after }) => after !== null && after.stale + after.missing > 0)
    .map(({ field }) => field)
}

function addedText({ field, before, after }: Target): readonly string[] {
  return before === null && after !== null
    ? [`\`${field}\` becomes a derived field: ${cellsText(after)}.`]
    : []
}

function removedText(targets: readonly Target[]): readonly string[] {
  const names = targets
    .filter(({ before, after }) => before !== null && after === null)
    .map(({ field }) => `\`${field}\``)
  if (names.length === 0) return []
  return names.length === 1
    ? [`${names[0]} becomes an ordinary field and keeps its values.`]
    : [`${listText(names)} become ordinary fields and keep their values.`]
}

function cellsText(counts: Counts): string {
  const states = (['missing', 'stale', 'failed', 'fresh'] as const).filter((state) => counts[state] > 0)
  if (states.length === 0)
    return counts.overridden > 0 ? 'all cells have manual values' : 'there are no cells'
  return states
    .map((state, index) =>
      index === 0
        ? `${countOf(counts[state], 'cell')} ${counts[state] === 1 ? 'is' : 'are'} ${state}`
        : `${formatCount(counts[state])} ${state}`,
    )
    .join(', ')
}

/** Counts of different fields are added: the fields of one file change together. */
function statesText(targets: readonly Target[]): readonly string[] {
  return STATES.flatMap((state) => {
    const gain = gainOf(targets, state)
    return gain === 0 ? [] : [`${countOf(gain, 'cell')} ${gain === 1 ? 'becomes' : 'become'} ${state}.`]
  })
}

function gainOf(targets: readonly Target[], state: keyof Counts): number {
  return sum(targets, ({ before, after }) =>
    before === null || after === null ? 0 : Math.max(0, after[state] - before[state]),
  )
}

function keptText(targets: readonly Target[]): readonly string[] {
  const kept = sum(targets, ({ after }) => after?.overridden ?? 0)
  return kept === 0 ? [] : [`${countOf(kept, 'manual value')} ${kept === 1 ? 'is' : 'are'} kept.`]
}

/** The derived fields that are computed from those that change, directly or not, and have the same state as before. */
function followersText(targets: readonly Target[], derivations: readonly Connection[]): readonly string[] {
  const reached = new Set(targets.filter(({ after }) => after !== null).map(({ field }) => field))
  const known = new Set(targets.map(({ field }) => field))
  for (let size = -1; size !== reached.size;) {
    size = reached.size
    for (const { inputs, targets: next } of derivations) {
      if (inputs.some((field) => reached.has(field))) for (const field of next) reached.add(field)
    }
  }
  const names = [...reached].filter((field) => !known.has(field)).map((field) => `\`${field}\``)
  if (names.length === 0) return []
  return [
    `${listText(names)} ${names.length === 1 ? 'follows' : 'follow'} where recomputing changes a value.`,
  ]
}

function listText(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

function sum(targets: readonly Target[], count: (target: Target) => number): number {
  return targets.reduce((total, target) => total + count(target), 0)
}
