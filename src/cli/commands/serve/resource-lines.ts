import type { UsedResource } from '../../../sheet/calls/used-resources.ts'

/** What derivations do with the resources of a type. */
const USES = { host: 'call', file: 'read', sheet: 'read the sheets', process: 'run' } as const

/** Returns a line, with its line break, for each type of resource that the sheet's derivations touch; empty for none. */
export function resourceLines(
  resources: readonly UsedResource[],
  { stubbed }: { readonly stubbed: boolean },
): string {
  const types = [...new Set(resources.map(({ type }) => type))]
  return types
    .map((type) => {
      const shown = resources
        .filter((resource) => resource.type === type)
        .map(({ name, refusal }) => (refusal === null ? name : `${name} (refused: ${refusal})`))
      const instead =
        stubbed && type === 'host' ? '; --stub answers in their place, and nothing is called' : ''
      return `Its derivations ${USES[type]} ${shown.join(', ')}${instead}\n`
    })
    .join('')
}
