import { Command } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import {
  conditionOf,
  conditionOptions,
  filterOption,
  paramOption,
  type ConditionFlags,
  type ParamValue,
} from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags, ConditionFlags {
  readonly filter?: string
  readonly param: readonly ParamValue[]
}

/** `colophon count <sheet>`. */
export function countCommand(): Command {
  const command = addSheetArgument(new Command('count').description('Count records.'))
    .addOption(filterOption())
    .addOption(paramOption('condition'))
  for (const option of conditionOptions()) command.addOption(option)
  addExamples(command, [
    ['colophon count countries', 'All records'],
    [`colophon count countries --filter 'region = ?' --param Asia --format table`, 'The number alone'],
    [
      `colophon count countries --where '{"state": ["failed"], "fields": ["currency_name"]}'`,
      'Records in which one field failed',
    ],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: Flags) =>
      withSheet(flags, async (context) => {
        const { printCount } = await import('./print-summary.ts')
        await printCount(context, {
          filter: flags.filter ?? null,
          params: flags.param,
          where: conditionOf(flags),
        })
      }),
    ),
  )
}
