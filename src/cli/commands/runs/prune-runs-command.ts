import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { integerBetween, parseAge } from '../../options/option-values.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly olderThan?: number
  readonly keep?: number
  readonly dryRun?: true
  readonly yes?: true
}

/** `colophon runs prune <sheet>`. */
export function pruneRunsCommand(): Command {
  const command = addSheetArgument(
    new Command('prune').description(
      'Remove runs that have ended, with their failures. Provenance and the states of cells stay; a removed run can no longer be reverted as a whole. Asks at a terminal.',
    ),
  )
    .addOption(
      new Option('--older-than <age>', 'only runs that ended longer ago, such as 30d or 12h').argParser(
        parseAge,
      ),
    )
    .addOption(
      new Option('--keep <number>', 'keep this many of the newest runs').argParser(
        integerBetween(0, Number.MAX_SAFE_INTEGER),
      ),
    )
    .option('--dry-run', 'show how many runs would be removed, and remove none')
    .option('-y, --yes', 'do not ask')
  addExamples(command, [
    ['colophon runs prune countries --older-than 30d', 'Remove runs that ended more than 30 days ago'],
    [
      'colophon runs prune countries --older-than 30d --keep 100',
      'The same, but keep the newest 100 of the sheet',
    ],
    ['colophon runs prune countries --keep 0 --dry-run', 'How many runs could be removed'],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: Flags) =>
      withSheet(flags, async (context) => {
        const { pruneSheetRuns } = await import('./run-prune-runs.ts')
        const { olderThan = null, keep = null } = flags
        const which = { olderThanMs: olderThan, keep }
        return pruneSheetRuns(context, which, { dryRun: flags.dryRun === true, ask: flags.yes !== true })
      }),
    ),
  )
}
