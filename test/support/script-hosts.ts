import type { TestContext } from 'node:test'
import { problemOf, type Confinement } from '../../src/sheet/scripts/confinement.ts'
import { LocalScripts } from '../../src/sheet/scripts/script-processes.ts'
import { onEnd } from './on-end.ts'

/** A confinement, and the reason why this machine does not have it; false if it does. */
export interface ConfinementHere {
  readonly confinement: Confinement
  readonly skip: string | false
}

/** The confinements of this user: a server of root never uses bubblewrap. Tests of one that is not there are skipped with the reason. */
export const confinements: readonly ConfinementHere[] = await Promise.all(
  (['namespaces', 'bubblewrap'] as const).map(async (confinement) => ({
    confinement,
    skip: await reasonOf(confinement),
  })),
)

/** The reason why no confinement works here; false if one does. */
export const unconfinable: string | false = confinements.some(({ skip }) => skip === false)
  ? false
  : confinements.map(({ confinement, skip }) => `${confinement}: ${skip}`).join('; ')

/** Returns a host that is closed when the test ends. */
export function scriptsOf(
  t: TestContext,
  confinement: Confinement | 'unconfined',
  directory: string | null = null,
): LocalScripts {
  const host = new LocalScripts(confinement, directory)
  onEnd(t, () => host.close())
  return host
}

async function reasonOf(confinement: Confinement): Promise<string | false> {
  if (confinement === 'bubblewrap' && process.getuid?.() === 0) return 'it does not confine a server of root'
  return (await problemOf(confinement)) ?? false
}
