import { Command, Option } from 'commander'
import {
  addLockTimeout,
  addOutputOptions,
  withOutput,
  type OutputFlags,
} from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'
import { parseActor } from '../../options/option-values.ts'
import { neededStore, storeOption, type StoreFlags } from '../../options/sheet-argument.ts'

interface Flags extends OutputFlags, StoreFlags {
  readonly dryRun?: true
  readonly note?: string
  readonly actor?: string
  readonly lockTimeout: number
}

/** `colophon push <sheet>`. */
export function pushCommand(): Command {
  const command = new Command('push')
    .description(
      'Push contract, derivations and transport.yaml into a store that servers share; the first time with the records.',
    )
    .argument('<sheet>', 'directory of the sheet')
    .addOption(storeOption('store to push to: postgres://user@host/database?schema=name'))
    .option('--dry-run', 'only show what would change, and what would break')
    .option('--note <text>', 'reason for the change, stored with the revision')
    .addOption(new Option('--actor <name>', 'actor of the push').argParser(parseActor).env('COLOPHON_ACTOR'))
  addExamples(command, [
    [
      'colophon push countries --store "postgres://app@db.example/sheets?schema=countries" --actor human:ann',
      'The whole sheet, the first time; later its contract, derivations and transport.yaml',
    ],
    ['colophon push countries --dry-run', 'What would change, in the store that COLOPHON_STORE names'],
  ])
  return addLockTimeout(addOutputOptions(command)).action((sheet: string, flags: Flags) => {
    const store = neededStore(command, flags)
    return withOutput(flags, async (out) => {
      const { runPush } = await import('./run-push.ts')
      await runPush(out, {
        directory: sheet,
        store,
        actor: flags.actor ?? null,
        note: flags.note ?? null,
        dryRun: flags.dryRun === true,
        lockTimeoutMs: flags.lockTimeout,
      })
    })
  })
}
