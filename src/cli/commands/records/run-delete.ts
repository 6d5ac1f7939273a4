import { deleteRecords, planDelete } from '../../../sheet/writes/delete-records.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { givenIds } from '../../options/record-ids.ts'
import { grouped, recordsText } from '../../terminal/progress-line.ts'
import { writerOf } from '../../options/required-actor.ts'

export interface WhatToDelete {
  /** `-` alone reads them from standard input. */
  readonly ids: readonly string[]
  /** Whether to ask, where somebody is there to answer. */
  readonly ask: boolean
  /** What hints call the sheet. */
  readonly sheetName: string
}

/** Deletes records and prints what came of it. Throws as {@link deleteRecords} does, and UsageError. */
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

/** Prints what a deletion would come to. Throws as {@link planDelete} does, and UsageError. */
export async function showDelete({ sheet, out }: CommandContext, given: readonly string[]): Promise<void> {
  const actor = writerOf(sheet)
  const plan = await planDelete(sheet, { ids: await givenIds(given), actor })
  const { deleted, remaining, missing } = plan
  await out.print({ ...plan, dry_run: true }, () => {
    const counts = `Nothing was deleted; it would be ${recordsText(deleted)}, and ${grouped(remaining)} would remain`
    return missing.length === 0 ? counts : `${counts}\nNo record: ${missing.join(', ')}`
  })
}

/** Ids that a shell takes as they are. */
const PLAIN_ID = /^[\w.:@%+/][\w.:@%+/-]*$/
const HINT_LENGTH = 120

/** How to take the deletion back; nothing where that would be long, or hard to quote. */
function undoHint(sheetName: string, ids: readonly string[]): string {
  const list = ids.join(',')
  if (list.length > HINT_LENGTH || !ids.every((id) => PLAIN_ID.test(id))) return ''
  return `\nUndo: colophon revert ${sheetName} --ids ${list}`
}
