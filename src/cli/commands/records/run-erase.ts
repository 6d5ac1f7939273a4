import { eraseValues, type ErasureReport } from '../../../sheet/writes/erase-values.ts'
import { toEraseAnswer } from '../../../wire/records/erasure.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { givenIds } from '../../options/record-ids.ts'
import { writerOf } from '../../options/required-actor.ts'
import { UsageError } from '../../options/usage-error.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { grouped, recordsText } from '../../terminal/progress-line.ts'

export interface WhatToErase {
  /** The ids; `-` alone reads them from standard input. */
  readonly ids: readonly string[]
  /** Null for all fields. */
  readonly fields: readonly string[] | null
  /** Whether to ask for confirmation at a terminal. */
  readonly ask: boolean
  /** Whether nothing is erased. */
  readonly dryRun: boolean
}

/** Erases values of records and prints the result. Throws as {@link eraseValues} does, and UsageError. */
export async function runErase({ sheet, out }: CommandContext, what: WhatToErase): Promise<ExitCode> {
  const { fields, dryRun } = what
  const actor = writerOf(sheet)
  const recordIds = await givenIds(what.ids)
  if (what.ask && !dryRun) {
    if (!canAsk())
      throw new UsageError('erasing cannot be undone, and there is no terminal to ask; add --yes')
    const values = fields === null ? 'all values' : `the values of ${fields.join(', ')}`
    const answer = await confirm(`Erase ${values} of ${recordsText(recordIds.length)} for good?`)
    if (answer !== 'yes') {
      out.note('Nothing was erased.')
      return answer === 'interrupted' ? EXIT.interrupted : EXIT.error
    }
  }
  const report = await eraseValues(sheet, { recordIds, fields, actor, dryRun })
  const answer = toEraseAnswer(report)
  await out.print(dryRun ? { ...answer, dry_run: true } : answer, () => textOf(report, dryRun))
  return EXIT.done
}

function textOf({ entries, lines, isCompacted, dependentFields }: ErasureReport, dryRun: boolean): string {
  const done = dryRun ? 'would be erased' : 'erased'
  const text = `values of ${recordsText(entries.length)} ${done}, from ${grouped(lines)} ${lines === 1 ? 'line' : 'lines'} of the log`
  return [
    text,
    ...(dependentFields.length === 0
      ? []
      : [`computed from them, and not erased: ${dependentFields.join(', ')}`]),
    ...(isCompacted || dryRun
      ? []
      : [
          'the store could not be written anew, so that its files can still have the values; repeat the command later',
        ]),
  ].join('\n')
}
