import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { integerBetween } from '../../options/option-values.ts'
import { cursorOption } from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly record?: string
  readonly field?: string
  readonly verdict?: 'approved' | 'flagged'
  readonly ended?: true
  readonly limit?: number
  readonly all?: true
  readonly cursor?: string
}

/** `colophon reviews <sheet>`. */
export function reviewsCommand(): Command {
  const command = addSheetArgument(
    new Command('reviews').description('List the reviews of cells: what was approved and flagged.'),
  )
    .option('--record <id>', 'only reviews of this record')
    .option('--field <name>', 'only reviews of this field')
    .addOption(
      new Option('--verdict <verdict>', 'only reviews with this verdict').choices(['approved', 'flagged']),
    )
    .option('--ended', 'list reviews that have ended as well')
    .addOption(
      new Option('--limit <number>', 'list at most this many reviews (default: 50)').argParser(
        integerBetween(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(new Option('--all', 'list all reviews').conflicts('limit'))
    .addOption(cursorOption())
  addExamples(command, [
    ['colophon reviews countries --verdict flagged', 'The cells that someone has flagged, and why'],
    ['colophon reviews countries --record CH --ended', 'All reviews of a record'],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: Flags) =>
      withSheet(flags, async (context) => {
        const { printReviews } = await import('./print-reviews.ts')
        await printReviews(context, {
          recordId: flags.record ?? null,
          field: flags.field ?? null,
          verdict: flags.verdict ?? null,
          ended: flags.ended === true,
          cursor: flags.cursor ?? null,
          limit: flags.all === true ? Infinity : (flags.limit ?? 50),
        })
      }),
    ),
  )
}
