import { Command, Option } from 'commander'
import { addCallOptions, addLogLevel, callableHosts, type CallFlags } from '../../options/call-options.ts'
import {
  addCheckpointOptions,
  checkpointOptions,
  type CheckpointFlags,
} from '../../options/checkpoint-options.ts'
import { addExamples } from '../../options/examples.ts'
import { secondsBetween } from '../../options/option-values.ts'
import { neededStore, storeOption, type StoreFlags } from '../../options/sheet-argument.ts'

interface Flags extends StoreFlags, CallFlags, CheckpointFlags {
  readonly grace: number
  readonly logLevel: string
}

/** `colophon worker`. */
export function workerCommand(): Command {
  const command = new Command('worker')
    .description('Compute cells of the runs of a sheet in a store, beside other workers.')
    .addOption(storeOption('the store of the sheet: postgres://…'))
  addCheckpointOptions(addCallOptions(addLogLevel(command))).addOption(
    new Option('--grace <seconds>', 'how long to wait for calls under way when stopped')
      .argParser(secondsBetween(0, 3600))
      .default(10_000, '10'),
  )
  addExamples(command, [
    ['colophon worker --store postgres://ann@db/sheets', 'A worker, on any machine'],
    ['colophon worker --allow-net api.example.com', 'A worker that calls this host only'],
  ])
  return command.action(async (flags: Flags, self: Command) => {
    const store = neededStore(self, flags)
    const { work } = await import('./run-worker.ts')
    await work({
      store,
      stubFile: flags.stub ?? null,
      callableHosts: callableHosts(flags),
      scripts: flags.allowScripts ?? 'off',
      graceMs: flags.grace,
      logLevel: flags.logLevel,
      ...checkpointOptions(flags),
    })
  })
}
