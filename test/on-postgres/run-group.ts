import { useEngine } from '../support/engine.ts'
import { GROUPS } from './files.ts'

/** Runs the tests of a group with their sheets in one PostgreSQL. */
export async function runGroup(name: keyof typeof GROUPS): Promise<void> {
  useEngine('postgres')
  for (const file of GROUPS[name]) await import(`../${file}`)
}
