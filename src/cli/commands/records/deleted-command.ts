import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { integerBetween } from '../../options/option-values.ts'
import { cursorOption } from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly limit?: number
  readonly all?: true
  readonly cursor?: string
}

/** `colophon deleted <sheet>`. */
export function deletedCommand(): Command {
  const command = addSheetArgument(
    new Command('deleted').description(
      'List the deleted records, the last deleted first: who deleted them, when, and their last values.',
    ),
  )
    .addOption(
      new Option('--limit <number>', 'list at most this many records (default: 50)').argParser(
        integerBetween(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(new Option('--all', 'list all of them').conflicts('limit'))
    .addOption(cursorOption())
  addExamples(command, [
    ['colophon deleted countries', 'The records that `colophon revert --ids` can restore'],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: Flags) =>
      withSheet(flags, async (context) => {
        const { printDeleted } = await import('./print-deleted.ts')
        const limit = flags.all === true ? Infinity : (flags.limit ?? 50)
        await printDeleted(context, { limit, cursor: flags.cursor ?? null })
      }),
    ),
  )
}
