import { ContractError } from '../../errors/service-error.ts'
import type { Derivation } from './derivation-kind.ts'

/** Most fields or files of a cycle that a message names. */
const MAX_SHOWN = 24

/**
 * Groups derivations into levels: each is in a level after those whose targets are its inputs, so that one run can compute fields from
 * other computed fields (D27). Within a level the given order is kept. Throws ContractError for two derivations of one target and for
 * cycles (D20).
 */
export function orderDerivations(derivations: readonly Derivation[]): readonly (readonly Derivation[])[] {
  const byTarget = indexTargets(derivations)
  refuseCycles(byTarget)

  const levels: Derivation[][] = []
  const levelOf = new Map<Derivation, number>()
  const level = (derivation: Derivation): number => {
    const known = levelOf.get(derivation)
    if (known !== undefined) return known
    const sources = dependenciesOf(derivation).flatMap((input) => byTarget.get(input) ?? [])
    const own = sources.reduce((highest, source) => Math.max(highest, level(source) + 1), 0)
    levelOf.set(derivation, own)
    return own
  }
  for (const derivation of derivations) {
    const own = level(derivation)
    while (levels.length <= own) levels.push([])
    levels[own]?.push(derivation)
  }
  return levels
}

/** Returns the fields that a derivation depends on, in the record at hand or in all records. */
export function dependenciesOf({ inputs, reads }: Pick<Derivation, 'inputs' | 'reads'>): readonly string[] {
  return reads === null ? inputs : [...new Set([...inputs, ...reads])]
}

function indexTargets(derivations: readonly Derivation[]): Map<string, Derivation> {
  const byTarget = new Map<string, Derivation>()
  for (const derivation of derivations) {
    for (const target of derivation.targets) {
      const other = byTarget.get(target)
      if (other) {
        throw new ContractError(
          `derivations/${other.file} and derivations/${derivation.file} both have the target "${target}"; ` +
            'a field has one derivation: take it out of one of them',
          'duplicate_target',
        )
      }
      byTarget.set(target, derivation)
    }
  }
  return byTarget
}

function refuseCycles(byTarget: ReadonlyMap<string, Derivation>): void {
  const done = new Set<string>()
  const path: string[] = []
  const visit = (target: string): void => {
    const derivation = byTarget.get(target)
    if (!derivation || done.has(target)) return
    const start = path.indexOf(target)
    // The walk goes from a target to its inputs; the message shows the cycle in the direction of the data.
    if (start !== -1) throw cycle([...path.slice(start), target].toReversed(), byTarget)
    path.push(target)
    for (const input of dependenciesOf(derivation)) visit(input)
    path.pop()
    done.add(target)
  }
  for (const target of byTarget.keys()) visit(target)
}

function cycle(fields: readonly string[], byTarget: ReadonlyMap<string, Derivation>): ContractError {
  const files = new Set(fields.flatMap((field) => byTarget.get(field)?.file ?? []))
  const names = [...files].map((file) => `derivations/${file}`)
  return new ContractError(
    `derivations form a cycle: ${shortened(fields).join(' -> ')} (${shortened(names).join(', ')}); a field cannot be computed from itself`,
    'derivation_cycle',
  )
}

/** Shortens a long list for a message to its first and last items. */
function shortened(items: readonly string[]): readonly string[] {
  if (items.length <= MAX_SHOWN) return items
  const [start, end] = [MAX_SHOWN - 4, 3]
  return [...items.slice(0, start), `(${items.length - start - end} more)`, ...items.slice(-end)]
}
