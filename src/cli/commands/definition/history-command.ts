import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { addConfirmed, integerBetween } from '../../options/option-values.ts'
import { cursorOption } from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly revert?: true
  readonly confirm: ReadonlyMap<string, number>
  readonly note?: string
  readonly dryRun?: true
  readonly limit?: number
  readonly all?: true
  readonly cursor?: string
}

/** `colophon history <sheet> [change]`. */
export function historyCommand(): Command {
  const command = addSheetArgument(
    new Command('history').description(
      'List the changes of the contract and the derivations, newest first, show one with its texts, or take it back.',
    ),
  )
    .argument('[change]', 'number of one change')
    .option('--revert', 'take the change back')
    .addOption(
      new Option(
        '--confirm <field=number>',
        'with --revert: the number of values that may be lost in a field that the change had added; may be repeated',
      )
        .argParser(addConfirmed)
        .default(new Map(), 'none'),
    )
    .option('--note <text>', 'with --revert: reason, for the history')
    .option('--dry-run', 'with --revert: only show what it would do')
    .addOption(
      new Option('--limit <number>', 'list at most this many changes (default: 50)').argParser(
        integerBetween(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(new Option('--all', 'list all of them').conflicts('limit'))
    .addOption(cursorOption())
  addExamples(command, [
    ['colophon history countries', 'Each change with its time, actor and files'],
    ['colophon history countries 4', 'The texts before and after change 4'],
    ['colophon history countries 4 --revert --actor human:ann', 'Take change 4 back'],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: Flags, id: string | undefined) =>
      withSheet(flags, async (context) => {
        const { runHistory } = await import('./run-history.ts')
        return runHistory(context, {
          id: id ?? null,
          revert: flags.revert === true,
          confirm: flags.confirm,
          note: flags.note ?? null,
          dryRun: flags.dryRun === true,
          limit: flags.all === true ? Infinity : (flags.limit ?? 50),
          cursor: flags.cursor ?? null,
        })
      }),
    ),
  )
}
