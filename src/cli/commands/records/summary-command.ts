import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import {
  conditionOf,
  conditionOptions,
  filterOption,
  paramOption,
  parseList,
  type ConditionFlags,
  type ParamValue,
} from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags, ConditionFlags {
  readonly fields?: readonly string[]
  readonly filter?: string
  readonly param: readonly ParamValue[]
  readonly search?: string
}

/** `colophon summary <sheet>`. */
export function summaryCommand(): Command {
  const command = addSheetArgument(
    new Command('summary').description(
      'Summarize fields: empty and distinct values, the most frequent, the range.',
    ),
  )
    .addOption(
      new Option('--fields <names>', 'summarize these fields, separated by commas (default: all)').argParser(
        parseList,
      ),
    )
    .addOption(filterOption())
    .addOption(paramOption('condition'))
    .option('--search <text>', 'list the values that contain this text instead of the most frequent')
  for (const option of conditionOptions()) command.addOption(option)
  addExamples(command, [
    ['colophon summary countries --fields region,area', 'The values of two fields'],
    [`colophon summary countries --filter 'region = ?' --param Asia`, 'Of some records'],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: Flags) =>
      withSheet(flags, async (context) => {
        const { printSummary } = await import('./print-summary.ts')
        const { fields = null, filter = null, param: params, search = null } = flags
        await printSummary(context, { fields, filter, params, search, where: conditionOf(flags) })
      }),
    ),
  )
}
