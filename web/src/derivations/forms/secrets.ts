import type { DerivationListAnswer } from '../../../../src/wire/definition/derivations.ts'

/** An environment variable that the definition names, and whether the server has it. */
export type Secret = DerivationListAnswer['secrets'][number]

export const NO_SECRETS: readonly Secret[] = []

/** Returns the names of the secrets that a header has, each once. */
export function secretsIn(text: string): readonly string[] {
  const found = text.matchAll(/\{\{\s*env\.([A-Za-z_]\w*)\s*\}\}/g)
  return [...new Set([...found].map(([, name = '']) => name))]
}

/** Returns whether the server has a secret; undefined for one that no saved file names. */
export function secretText(isSet: boolean | undefined): string {
  if (isSet === undefined) return 'is a new name: a preview shows whether the server has it.'
  return isSet
    ? 'is set on the server.'
    : 'is not set on the server: start it with this environment variable.'
}
