import { text } from 'node:stream/consumers'
import { UsageError } from './usage-error.ts'

/**
 * Returns the record ids of a command line without repeats; `-` alone reads them from standard input, one per line.
 * Throws UsageError for none.
 */
export async function givenIds(given: readonly string[]): Promise<readonly string[]> {
  const ids = [...new Set(given.length === 1 && given[0] === '-' ? await readIds() : given)]
  if (ids.length === 0) throw new UsageError('standard input has no ids; give one per line')
  return ids
}

async function readIds(): Promise<string[]> {
  const lines = (await text(process.stdin)).split('\n')
  return lines.map((line) => line.replace(/\r$/, '')).filter((line) => line !== '')
}
