import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { integerBetween } from '../../options/option-values.ts'
import {
  asOfOption,
  conditionOf,
  conditionOptions,
  cursorOption,
  fieldsOption,
  filterOption,
  paramOption,
  sortOption,
  type ConditionFlags,
  type ParamValue,
} from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags, ConditionFlags {
  readonly fields?: readonly string[]
  readonly filter?: string
  readonly param: readonly ParamValue[]
  readonly sort?: readonly string[]
  readonly limit?: number
  readonly cursor?: string
  readonly asOf?: string
  readonly all?: true
}

/** `colophon list <sheet>`. */
export function listCommand(): Command {
  const command = addSheetArgument(new Command('list').description('List records (default: the first 50).'))
    .addOption(fieldsOption())
    .addOption(filterOption())
    .addOption(paramOption('condition'))
    .addOption(sortOption())
    .addOption(
      new Option('--limit <number>', 'list at most this many records (default: 50)').argParser(
        integerBetween(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(new Option('--all', 'list all records').conflicts('limit'))
    .addOption(cursorOption())
    .addOption(asOfOption())
  for (const option of conditionOptions()) command.addOption(option)
  addExamples(command, [
    ['colophon list countries --fields id,name,area --sort -area --limit 5', 'The five largest countries'],
    [
      `colophon list countries --filter "region = 'Asia' AND area > 1e6"`,
      'Records that match a condition, in SQL over the fields',
    ],
    [
      `colophon list countries --filter 'region = ? AND area > ?' --param Asia --param 1e6`,
      'With values that need no quoting',
    ],
    ['colophon list countries --state failed,stale', 'Records with a derived cell that failed or is stale'],
    ["colophon list countries --by 'agent:*'", 'Records with a value that an agent has written'],
    ['colophon list countries --all --format ndjson > countries.ndjson', 'All records, one per line'],
    ['colophon list countries --as-of 2026-11-20T10:00:00Z', 'The records as they were then'],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: Flags) =>
      withSheet(flags, async (context) => {
        const [{ printRecords }, { bindFilter }] = await Promise.all([
          import('./print-records.ts'),
          import('../../../sheet/queries/bind-filter.ts'),
        ])
        const { fields = null, sort = null, cursor = null, asOf = null } = flags
        const filter = await bindFilter(context.sheet, flags.filter ?? null, flags.param)
        const limit = flags.all === true ? Infinity : (flags.limit ?? 50)
        await printRecords(context, { fields, filter, where: conditionOf(flags), sort, cursor, asOf, limit })
      }),
    ),
  )
}
