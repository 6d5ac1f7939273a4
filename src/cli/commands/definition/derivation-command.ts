import { basename } from 'node:path'
import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { integerBetween, parseDollars } from '../../options/option-values.ts'
import { parseList } from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

/** The most records of a preview. */
const MOST = 50

interface ChangeFlags extends SheetFlags {
  readonly note?: string
  readonly dryRun?: true
  readonly yes?: true
}

interface SetFlags extends ChangeFlags {
  readonly from: string
  readonly keepFresh?: true
}

interface PreviewFlags extends SheetFlags {
  readonly from?: string
  readonly ids?: readonly string[]
  readonly sample: number
  readonly seed: number
  readonly maxCost?: number
}

/** `colophon derivation list|show|preview|set|remove <sheet> [file]`. */
export function derivationCommand(): Command {
  const command = new Command('derivation')
    .description('List, show, try, write or remove derivation files.')
    .helpCommand(false)
    .enablePositionalOptions()
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(previewCommand())
    .addCommand(setCommand())
    .addCommand(removeCommand())
  return addExamples(command, [
    ['colophon derivation list countries', 'Each derivation with its targets, inputs and hosts'],
    ['colophon derivation show countries names.yaml', 'The text of one file'],
  ])
}

function listCommand(): Command {
  const command = addSheetArgument(
    new Command('list').description('List the derivations, each after those it depends on.'),
  )
  addExamples(command, [
    ['colophon derivation list countries', 'Each derivation with its targets, inputs and hosts'],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: SheetFlags) =>
      withSheet(flags, async (context) => {
        const { printDerivations } = await import('./print-derivations.ts')
        await printDerivations(context)
      }),
    ),
  )
}

function showCommand(): Command {
  const command = withFile(
    new Command('show').description('Show the text of a derivation file, also of one that is not valid.'),
  )
  addExamples(command, [['colophon derivation show countries names.yaml', 'The text of one file']])
  return addSheetOptions(command).action(
    onSheet((flags: SheetFlags, file: string) =>
      withSheet(flags, async (context) => {
        const { showDerivation } = await import('./run-derivation.ts')
        await showDerivation(context, basename(file))
      }),
    ),
  )
}

function previewCommand(): Command {
  const command = withFile(
    new Command('preview').description(
      'Try a derivation on a few records. No cell is stored; a later run does not pay for the same calls again.',
    ),
  )
    .option('--from <path>', 'try the text of this file, - for standard input (default: the present text)')
    .addOption(new Option('--ids <ids>', 'these records, separated by commas').argParser(parseList))
    .addOption(
      new Option('--sample <number>', 'without --ids: this many records')
        .argParser(integerBetween(1, MOST))
        .default(5),
    )
    .addOption(
      new Option('--seed <number>', 'choose other records for the sample')
        .argParser(integerBetween(0, Number.MAX_SAFE_INTEGER))
        .default(0),
    )
    .addOption(new Option('--max-cost <dollars>', 'maximum cost of the calls').argParser(parseDollars))
  addExamples(command, [
    [
      'colophon derivation preview countries names.yaml --from draft.yaml --actor human:ann',
      'Try a draft on five records',
    ],
    [
      'colophon derivation preview countries names.yaml --ids CH,FR --actor human:ann',
      'Try the present file',
    ],
  ])
  return addSheetOptions(command, { calls: true }).action(
    onSheet((flags: PreviewFlags, file: string) =>
      withSheet(flags, async (context) => {
        const { showPreview } = await import('./run-derivation.ts')
        return showPreview(context, {
          file: basename(file),
          from: flags.from ?? null,
          recordIds: flags.ids ?? null,
          sample: flags.sample,
          seed: flags.seed,
          maxCost: flags.maxCost ?? null,
        })
      }),
    ),
  )
}

function setCommand(): Command {
  const command = addChangeOptions(
    withFile(
      new Command('set').description(
        'Add or replace a derivation file, if the whole definition is valid with it.',
      ),
    ).requiredOption('--from <path>', 'file with the new text, - for standard input'),
  ).option('--keep-fresh', 'mark the values of the edited file as fresh, for an edit that changes no value')
  addExamples(command, [
    [
      'colophon derivation set countries names.yaml --from draft.yaml --dry-run --actor human:ann',
      'What the change would do',
    ],
    ['colophon derivation set countries names.yaml --from draft.yaml --actor human:ann', 'Make it'],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: SetFlags, file: string) =>
      withSheet(flags, async (context) => {
        const { setDerivation } = await import('./run-derivation.ts')
        const { from } = flags
        return setDerivation(context, basename(file), {
          from,
          keepFresh: flags.keepFresh === true,
          ...changeOf(flags),
        })
      }),
    ),
  )
}

function removeCommand(): Command {
  const command = addChangeOptions(
    withFile(
      new Command('remove').description(
        'Remove a derivation file; its targets keep their values. Asks at a terminal.',
      ),
    ),
  ).option('-y, --yes', 'do not ask')
  addExamples(command, [
    [
      'colophon derivation remove countries names.yaml --actor human:ann',
      'Show the effect, ask, and remove it',
    ],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: ChangeFlags, file: string) =>
      withSheet(flags, async (context) => {
        const { removeDerivation } = await import('./run-derivation.ts')
        return removeDerivation(context, basename(file), { ask: flags.yes !== true, ...changeOf(flags) })
      }),
    ),
  )
}

function withFile(command: Command): Command {
  return addSheetArgument(command).argument('<file>', 'name of the derivation file')
}

function addChangeOptions(command: Command): Command {
  return command
    .option('--note <text>', 'reason, for the history')
    .option('--dry-run', 'only show what the change would do')
}

function changeOf({ note, dryRun }: ChangeFlags): { readonly note: string | null; readonly dryRun: boolean } {
  return { note: note ?? null, dryRun: dryRun === true }
}
