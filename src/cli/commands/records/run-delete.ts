import { deleteRecords, planDelete } from '../../../sheet/writes/delete-records.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { givenIds } from '../../options/record-ids.ts'
import { grouped, recordsText } from '../../terminal/progress-line.ts'
import { writerOf } from '../../options/required-actor.ts'

export interface WhatToDelete {
  /** The ids; `-` alone reads them from standard input. */
  readonly ids: readonly string[]
  /** Whether to ask for confirmation at a terminal. */
  readonly ask: boolean
  /** The sheet's argument in hints. */
  readonly sheetName: string
}

/** Deletes records and prints the result. Throws as {@link deleteRecords} does, and UsageError. */
export async function runDelete(
  { sheet, out }: CommandContext,
  { ids: given, ask, sheetName }: WhatToDelete,
): Promise<ExitCode> {
  const actor = writerOf(sheet)
  const ids = await givenIds(given)
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
    () =>
      `${recordsText(deleted)} deleted, ${grouped(remaining)} remain${deleted === ids.length ? undoHint(sheetName, ids) : ''}`,
  )
  return EXIT.done
}

/** Prints the predicted result of a deletion. Throws as {@link planDelete} does, and UsageError. */
export async function showDelete({ sheet, out }: CommandContext, given: readonly string[]): Promise<void> {
  const actor = writerOf(sheet)
  const plan = await planDelete(sheet, { ids: await givenIds(given), actor })
  const { deleted, remaining, missing } = plan
  await out.print({ ...plan, dry_run: true }, () => {
    const counts = `Nothing was deleted; it would be ${recordsText(deleted)}, and ${grouped(remaining)} would remain`
    return missing.length === 0 ? counts : `${counts}\nNo record: ${missing.join(', ')}`
  })
}

/** Ids that need no quoting in a shell. */
const PLAIN_ID = /^[\w.:@%+/][\w.:@%+/-]*$/
const HINT_LENGTH = 120

/** Returns a hint with the command that undoes the deletion; empty when it would be long or need quoting. */
function undoHint(sheetName: string, ids: readonly string[]): string {
  const list = ids.join(',')
  if (list.length > HINT_LENGTH || !ids.every((id) => PLAIN_ID.test(id))) return ''
  return `\nUndo: colophon revert ${sheetName} --ids ${list}`
}
