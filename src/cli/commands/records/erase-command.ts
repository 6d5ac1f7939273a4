import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { parseList } from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly fields?: readonly string[]
  readonly dryRun?: true
  readonly yes?: true
}

/** `colophon erase <sheet> <id...>`. */
export function eraseCommand(): Command {
  const command = addSheetArgument(
    new Command('erase').description(
      'Erase values of records for good, from the log too. Without --fields the records are deleted as well.',
    ),
  )
    .argument(
      '<ids...>',
      'ids of the records, which may be deleted; - reads them from standard input, one per line',
    )
    .addOption(
      new Option('--fields <names>', 'only the values of these fields, separated by commas').argParser(
        parseList,
      ),
    )
    .option('--dry-run', 'only show what would be erased')
    .option('-y, --yes', 'do not ask; needed where there is no terminal')
  addExamples(command, [
    [
      'colophon erase people 4711 --actor human:ann',
      'All that the sheet says of a record, after confirmation',
    ],
    ['colophon erase people 4711 --dry-run --actor human:ann', 'What it would erase'],
    [
      'colophon erase people 4711 --fields email,phone --actor human:ann',
      'Present and earlier values of two fields',
    ],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: Flags, ids: readonly string[]) =>
      withSheet(flags, async (context) => {
        const { runErase } = await import('./run-erase.ts')
        return runErase(context, {
          ids,
          fields: flags.fields ?? null,
          ask: flags.yes !== true,
          dryRun: flags.dryRun === true,
        })
      }),
    ),
  )
}
