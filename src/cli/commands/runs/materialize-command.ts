import { basename } from 'node:path'
import { Command, Option } from 'commander'
import { USUAL_STOP_AFTER_FAILURES } from '../../../sheet/runs/selection/stop-after-failures.ts'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { integerBetween, parseDollars } from '../../options/option-values.ts'
import type { ProgressStyle } from '../../terminal/progress.ts'
import { parseList } from '../../options/record-options.ts'
import { progressOption } from '../../options/progress-option.ts'
import { UsageError } from '../../options/usage-error.ts'
import { addSheetArgument, onSheet, sheetWords } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly target?: readonly string[]
  readonly ids?: readonly string[]
  readonly only?: 'missing' | 'stale' | 'failed'
  readonly force?: true
  readonly overwriteManual?: true
  readonly dryRun?: true
  readonly reuseResponses?: true
  readonly keepFresh?: string
  readonly stopAfterFailures: number
  readonly limit?: number
  readonly maxCalls?: number
  readonly maxCost?: number
  readonly yes?: true
  readonly progress?: ProgressStyle
}

/** `colophon materialize <sheet>`. */
export function materializeCommand(): Command {
  const command = addSheetArgument(
    new Command('materialize').description(
      'Compute derived fields. Asks at a terminal before calls are made.',
    ),
  )
    .addOption(
      new Option('--target <names>', 'only these derived fields, separated by commas').argParser(parseList),
    )
    .addOption(new Option('--ids <ids>', 'only these records, separated by commas').argParser(parseList))
    .addOption(
      new Option('--only <state>', 'only cells in this state').choices(['missing', 'stale', 'failed']),
    )
    .option('--force', 'recompute fresh and cached cells too, but not manual values')
    .option('--overwrite-manual', 'with --force: recompute manual values too, which are lost')
    .addOption(
      new Option(
        '--limit <number>',
        'at most this many records with pending cells: never tried ones first, then the oldest failures',
      ).argParser(integerBetween(1, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(
      new Option('--max-calls <number>', 'maximum number of calls').argParser(
        integerBetween(0, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(
      new Option('--max-cost <dollars>', 'maximum cost: no call starts that would exceed it').argParser(
        parseDollars,
      ),
    )
    .addOption(
      new Option(
        '--stop-after-failures <number>',
        'end the run after this many failures in a row at one host, or one 401, 402 or 403; 0 never ends it',
      )
        .argParser(integerBetween(0, Number.MAX_SAFE_INTEGER))
        .default(USUAL_STOP_AFTER_FAILURES),
    )
    .option('--reuse-responses', 'use kept responses instead of making calls')
    .option(
      '--keep-fresh <file>',
      'compute nothing, and mark the stale cells of this edited derivation file as fresh',
    )
    .option('--dry-run', 'only show what would be computed, and the cost')
    .option('-y, --yes', 'do not ask')
    .addOption(progressOption())
  addExamples(command, [
    ['colophon materialize countries --dry-run', 'What would be computed, and the cost'],
    ['colophon materialize countries --actor human:ann', 'Compute missing, stale and failed cells'],
    [
      'colophon materialize countries --actor agent:nightly --max-cost 5 --format json',
      'From a program, with a bound',
    ],
    ['colophon materialize countries --actor human:ann --only failed', 'Retry failed cells'],
    [
      'colophon materialize countries --actor human:ann --target name_de --force --overwrite-manual --dry-run',
      'How many manual values recomputing would overwrite',
    ],
  ])
  return addSheetOptions(command, { calls: true }).action(
    onSheet((flags: Flags) =>
      withSheet(flags, async (context) => {
        const { runMaterialize, showPlan } = await import('./run-materialize.ts')
        const selection = {
          targets: flags.target ?? null,
          recordIds: flags.ids ?? null,
          force: flags.force ?? false,
          overwriteManual: flags.overwriteManual ?? false,
          only: flags.only ?? null,
          limit: flags.limit ?? null,
          maxCalls: flags.maxCalls ?? null,
          maxCost: flags.maxCost ?? null,
          reuseResponses: flags.reuseResponses ?? false,
          keepFresh: flags.keepFresh === undefined ? undefined : basename(flags.keepFresh),
          stopAfterFailures: flags.stopAfterFailures,
        }
        if (selection.overwriteManual && !selection.force) {
          throw new UsageError(
            '--overwrite-manual requires --force: without it no manual value is recomputed',
          )
        }
        if (flags.dryRun === true) return showPlan(context, selection)
        return runMaterialize(context, selection, {
          name: sheetWords(flags.sheet),
          ask: flags.yes !== true,
          progress: flags.progress ?? null,
        })
      }),
    ),
  )
}
