import type { CalledHost } from '../../../sheet/calls/called-hosts.ts'

/** One line, with its line break, on whom the sheet's derivations call; empty when they call nobody. */
export function calledHostsLine(
  hosts: readonly CalledHost[],
  { stubbed }: { readonly stubbed: boolean },
): string {
  if (hosts.length === 0) return ''
  const shown = hosts.map(({ host, refusal }) => (refusal === null ? host : `${host} (refused: ${refusal})`))
  const instead = stubbed ? '; --stub answers in their place, and nothing is called' : ''
  return `Its derivations call ${shown.join(', ')}${instead}\n`
}
