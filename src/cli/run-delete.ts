import { text } from 'node:stream/consumers'
import { deleteRecords } from '../sheet/delete-records.ts'
import type { CommandContext } from './command-context.ts'
import { canAsk, confirm } from './confirm.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { grouped } from './progress-line.ts'
import { UsageError } from './usage-error.ts'
import { writerOf } from './writer.ts'

export interface WhatToDelete {
  /** `-` alone reads them from standard input. */
  readonly ids: readonly string[]
  /** Whether to ask, where somebody is there to answer. */
  readonly ask: boolean
}

/** Deletes records and prints what came of it. Throws as {@link deleteRecords} does, and UsageError. */
export async function runDelete(
  { sheet, out }: CommandContext,
  { ids: given, ask }: WhatToDelete,
): Promise<ExitCode> {
  const actor = writerOf(sheet)
  const ids = [...new Set(given.length === 1 && given[0] === '-' ? await readIds() : given)]
  if (ids.length === 0) throw new UsageError('standard input has no ids; give one to a line')
  if (ask && canAsk()) {
    const answer = await confirm(`Delete ${recordsText(ids.length)}?`)
    if (answer !== 'yes') {
      out.note('Nothing was deleted.')
      return answer === 'interrupted' ? EXIT.interrupted : EXIT.error
    }
  }
  const { deleted, remaining } = await deleteRecords(sheet, { ids, actor })
  await out.print(
    { deleted, remaining },
    () => `${recordsText(deleted)} deleted, ${grouped(remaining)} remain`,
  )
  return EXIT.done
}

async function readIds(): Promise<string[]> {
  const lines = (await text(process.stdin)).split('\n')
  return lines.map((line) => line.replace(/\r$/, '')).filter((line) => line !== '')
}

function recordsText(count: number): string {
  return `${grouped(count)} ${count === 1 ? 'record' : 'records'}`
}
