import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { addConfirmed, integerBetween } from '../../options/option-values.ts'
import { cursorOption, parseList } from '../../options/record-options.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly state?: string
  readonly limit?: number
  readonly all?: true
  readonly cursor?: string
  readonly accept?: true
  readonly reject?: true
  readonly reason?: string
  readonly ids?: readonly string[]
  readonly fields?: readonly string[]
  readonly confirm: ReadonlyMap<string, number>
  readonly yes?: true
}

/** `colophon proposals <sheet> [proposal]`. */
export function proposalsCommand(): Command {
  const command = addSheetArgument(
    new Command('proposals').description(
      'List the proposals, newest first, show what one would change, or decide it. Asks at a terminal before a decision.',
    ),
  )
    .argument('[proposal]', 'number of one proposal')
    .addOption(
      new Option('--state <state>', 'only those in this state').choices(['waiting', 'accepted', 'rejected']),
    )
    .addOption(
      new Option('--accept', 'accept the proposal and write it as --actor').conflicts(['reject', 'reason']),
    )
    .option('--reject', 'reject the proposal')
    .option('--reason <text>', 'reason for the rejection, for the proposer')
    .addOption(
      new Option(
        '--ids <ids>',
        'with --accept or --reject: only these records of the proposal, separated by commas; the others wait',
      ).argParser(parseList),
    )
    .addOption(
      new Option(
        '--fields <names>',
        'with --accept or --reject: only these fields, separated by commas; the others wait',
      ).argParser(parseList),
    )
    .addOption(
      new Option(
        '--confirm <field=number>',
        'with --accept: the number of values that may be lost in a field that a proposed definition removes; may be repeated',
      )
        .argParser(addConfirmed)
        .default(new Map(), 'none'),
    )
    .addOption(
      new Option('--limit <number>', 'list at most this many proposals (default: 50)').argParser(
        integerBetween(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(new Option('--all', 'list all of them').conflicts('limit'))
    .addOption(cursorOption())
    .option('-y, --yes', 'do not ask')
  addExamples(command, [
    ['colophon proposals countries --state waiting', 'Proposals that wait for a decision'],
    ['colophon proposals countries 3', 'What proposal 3 would change'],
    ['colophon proposals countries 3 --accept --actor human:ann', 'Write it'],
    [
      'colophon proposals countries 3 --accept --ids AT,BE --fields capital --actor human:ann',
      'Write two of its values; the others wait',
    ],
    [
      `colophon proposals countries 3 --reject --reason 'No source' --actor human:ann`,
      'Reject it with a reason',
    ],
  ])
  return addSheetOptions(command, { writes: true }).action(
    onSheet((flags: Flags, id: string | undefined) =>
      withSheet(flags, async (context) => {
        const { runProposals } = await import('./run-proposals.ts')
        return runProposals(context, {
          id: id ?? null,
          decision: flags.accept === true ? 'accept' : flags.reject === true ? 'reject' : null,
          reason: flags.reason ?? null,
          ids: flags.ids ?? null,
          fields: flags.fields ?? null,
          confirm: flags.confirm,
          ask: flags.yes !== true,
          state: flags.state ?? null,
          limit: flags.all === true ? Infinity : (flags.limit ?? 50),
          cursor: flags.cursor ?? null,
        })
      }),
    ),
  )
}
