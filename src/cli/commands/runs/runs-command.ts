import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { integerBetween } from '../../options/option-values.ts'
import { pruneRunsCommand } from './prune-runs-command.ts'
import { cursorOption } from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly failures?: true
  readonly limit?: number
  readonly all?: true
  readonly cursor?: string
  readonly cancel?: true
}

/** `colophon runs <sheet> [run]`. */
export function runsCommand(): Command {
  const command = addSheetArgument(
    new Command('runs').description('List the runs of a sheet, newest first, or show one run.'),
  )
    .argument('[run]', 'number of one run')
    .option('--failures', 'list the cells that failed in the run, with their errors')
    .addOption(new Option('--cancel', 'cancel the run, whichever process executes it').conflicts('failures'))
    .addOption(
      new Option('--limit <number>', 'list at most this many runs or failures (default: 50)').argParser(
        integerBetween(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(new Option('--all', 'list all of them').conflicts('limit'))
    .addOption(cursorOption())
  addExamples(command, [
    ['colophon runs countries', 'Each run with its time, actor and result'],
    ['colophon runs countries 3 --failures --all', 'Every cell that failed in run 3'],
    ['colophon runs countries 4 --cancel --actor human:ann', 'Cancel a run, also one of a server'],
  ])
  // Options after `prune` belong to `prune`, also when this command has the same.
  command.helpCommand(false).enablePositionalOptions().addCommand(pruneRunsCommand())
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: Flags, id: string | undefined) =>
      withSheet(flags, async (context) => {
        const { printRuns } = await import('./print-runs.ts')
        await printRuns(context, {
          id: id ?? null,
          about: flags.failures === true ? 'failures' : flags.cancel === true ? 'cancel' : 'run',
          limit: flags.all === true ? Infinity : (flags.limit ?? 50),
          cursor: flags.cursor ?? null,
        })
      }),
    ),
  )
}
