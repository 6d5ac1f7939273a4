import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { integerBetween, secondsBetween } from '../../options/option-values.ts'
import { paramOption, type ParamValue } from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

const MIB = 1024 * 1024

interface Flags extends Omit<SheetFlags, 'queryLimits'> {
  readonly param: readonly ParamValue[]
  readonly queryTimeout: number
  readonly queryRows: number
  readonly queryMemory: number
}

/** `colophon query <sheet> <sql>`. */
export function queryCommand(): Command {
  const command = addSheetArgument(
    new Command('query').description('Run one SELECT over the table `records`.'),
  )
    .argument('<sql>', 'the statement; - reads it from standard input')
    .addOption(paramOption('statement'))
    .addOption(
      new Option('--query-timeout <seconds>', 'deadline of the query')
        .argParser(secondsBetween(0.001, 3600))
        .default(5000, '5'),
    )
    .addOption(
      new Option('--query-rows <number>', 'maximum rows of the result')
        .argParser(integerBetween(1, 1_000_000))
        .default(10_000),
    )
    .addOption(
      new Option('--query-memory <MiB>', 'maximum memory of the query')
        .argParser(integerBetween(64, 65_536, MIB))
        .default(384 * MIB, '384'),
    )
  addExamples(command, [
    [
      `colophon query countries 'SELECT region, count(*) AS n FROM records GROUP BY region ORDER BY n DESC'`,
      'Countries by region',
    ],
    [
      `colophon query countries 'SELECT name FROM records WHERE area > ? AND region = ?' --param 1e6 --param Asia`,
      'With values that need no quoting',
    ],
    ['colophon query countries - --format ndjson < report.sql', 'From a file, one row per line'],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: Flags, sql: string) => {
      const queryLimits = {
        timeoutMs: flags.queryTimeout,
        maxRows: flags.queryRows,
        maxMemoryBytes: flags.queryMemory,
      }
      return withSheet({ ...flags, queryLimits }, async (context) => {
        const { printQuery } = await import('./print-query.ts')
        await printQuery(context, { sql, params: flags.param })
      })
    }),
  )
}
