import type { UsedResource } from '../../../sheet/calls/used-resources.ts'
import { Output, OutputClosed } from '../../terminal/output.ts'

/** Prints the start message of a server or worker to standard output; calls `stop` when the reader has closed it. */
export async function printStartMessage(text: string, stop: () => void): Promise<void> {
  try {
    await new Output(null).write(text)
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error
    stop()
  }
}

/** Verbs by type of resource. */
const USES = { host: 'call', file: 'read', sheet: 'read the sheets', process: 'run' } as const

/** Returns a line, with its line break, for each type of resource that the derivations use; empty for none. */
export function resourceLines(
  resources: readonly UsedResource[],
  { stubbed }: { readonly stubbed: boolean },
): string {
  const types = [...new Set(resources.map(({ type }) => type))]
  return types
    .map((type) => {
      const ofType = resources.filter((resource) => resource.type === type)
      if (type === 'process') return processLine(ofType)
      const shown = ofType.map(({ name, refusal }) =>
        refusal === null ? name : `${name} (refused: ${refusal})`,
      )
      const instead =
        stubbed && type === 'host' ? '; --stub answers in their place, and nothing is called' : ''
      return `Its derivations ${USES[type]} ${shown.join(', ')}${instead}\n`
    })
    .join('')
}

/** Returns the line on the hosts whose images browsers load; empty for none. */
export function imageLine(hosts: readonly string[]): string {
  return hosts.length === 0 ? '' : `Its viewer loads images of ${hosts.join(', ')}\n`
}

/** Returns the line on programs, which are all allowed or refused for one reason. */
function processLine(programs: readonly UsedResource[]): string {
  const [first] = programs
  const shown = `Its derivations ${USES.process} ${programs.map(({ name }) => name).join(', ')}`
  if (typeof first?.refusal === 'string') return `${shown}: refused, ${first.refusal}\n`
  if (first?.confinement === undefined) return `${shown}\n`
  return first.confinement === 'unconfined'
    ? `${shown}, unconfined: with all that this user may do\n`
    : `${shown}, confined by ${first.confinement}\n`
}
