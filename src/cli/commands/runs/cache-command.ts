import { Command, Option } from 'commander'
import { addSheetOptions, withSheet, type SheetFlags } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { parseAge, parseSize } from '../../options/option-values.ts'
import { addSheetArgument, onSheet } from '../../options/sheet-argument.ts'

interface Flags extends SheetFlags {
  readonly trim?: number
  readonly olderThan?: number
  readonly maxSize?: number
  readonly yes?: true
}

/** `colophon cache <sheet>`. */
export function cacheCommand(): Command {
  const command = addSheetArgument(
    new Command('cache').description(
      'Show the responses that are kept for --reuse-responses and the recording of calls, or remove some. Asks at a terminal before removing any.',
    ),
  )
    .addOption(
      new Option(
        '--trim <size>',
        'remove the least recently used until the rest takes at most this, such as 100MB; 0 removes all',
      ).argParser(parseSize),
    )
    .addOption(
      new Option('--older-than <age>', 'remove those received longer ago, such as 30d or 12h').argParser(
        parseAge,
      ),
    )
    .addOption(
      new Option(
        '--max-size <size>',
        'keep at most this from now on; 0 keeps none (default: 256MiB)',
      ).argParser(parseSize),
    )
    .option('-y, --yes', 'do not ask')
  addExamples(command, [
    ['colophon cache countries', 'Number and size of kept responses'],
    ['colophon cache countries --older-than 90d', 'Remove responses older than 90 days'],
    ['colophon cache countries --max-size 1GiB', 'Keep more than the default'],
  ])
  return addSheetOptions(command).action(
    onSheet((flags: Flags) =>
      withSheet(flags, async (context) => {
        const { changeCache, showCache } = await import('./run-cache.ts')
        const { trim = null, olderThan = null, maxSize = null } = flags
        if (trim === null && olderThan === null && maxSize === null) return showCache(context)
        const change = { trimTo: trim, olderThanMs: olderThan, limit: maxSize }
        return changeCache(context, change, { ask: flags.yes !== true })
      }),
    ),
  )
}
