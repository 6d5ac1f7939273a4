import { createHash } from 'node:crypto'
import type { Derivation, DerivationStep } from '../definition/derivation-kind.ts'

/** Returns the key of what computations of a derivation have used: of its file, and of what else its results depend on. */
export function usageKey({ sha256, kind, spec }: Pick<Derivation, 'sha256' | 'kind' | 'spec'>): string {
  return createHash('sha256')
    .update(`${sha256}\n${kind.versionOf?.(spec) ?? ''}`)
    .digest('hex')
}

/** Returns the key of how often values of a step were accepted. */
export function stepKey({ derivation, condition }: DerivationStep): string {
  return createHash('sha256')
    .update(`step\n${usageKey(derivation)}\n${condition ?? ''}`)
    .digest('hex')
}
