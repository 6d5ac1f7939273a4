import { Command, Option } from 'commander'
import { startStoreThread } from '../../../sheet/store-thread.ts'
import {
  addAgentActor,
  addAgentOptions,
  prefixedAgentScope,
  type PrefixedAgentFlags,
} from './agent-options.ts'
import { parseActorHeader } from './actor-header.ts'
import { addCallOptions, addLogLevel, callableHosts, type CallFlags } from '../../options/call-options.ts'
import {
  integerBetween,
  parseActor,
  parseAddress,
  parseHostName,
  parseImageHosts,
  secondsBetween,
} from '../../options/option-values.ts'
import {
  addCheckpointOptions,
  checkpointOptions,
  type CheckpointFlags,
} from '../../options/checkpoint-options.ts'
import type { ServeOptions } from './run-serve.ts'
import { addSheetArgument, addStoreOption, onSheet, type StoreFlags } from '../../options/sheet-argument.ts'

const MIB = 1024 * 1024

/** The parsed options; times in milliseconds, sizes in bytes. */
interface Flags extends PrefixedAgentFlags, StoreFlags, CallFlags, CheckpointFlags {
  readonly sheet: string
  readonly host: string
  readonly port: number
  readonly actor?: string
  readonly lockTimeout: number
  readonly allowHost: readonly string[]
  readonly allowImages: readonly string[]
  readonly queryTimeout: number
  readonly queryRows: number
  readonly queryMemory: number
  readonly bodyLimit: number
  readonly logLevel: string
  readonly trustActorHeader?: string
  readonly readOnlyDefinition?: true
  readonly mcp?: true
}

/** `colophon serve <sheet>`. */
export function serveCommand(): Command {
  const command = addStoreOption(
    addSheetArgument(new Command('serve').description('Serve a sheet over HTTP on this machine.')),
  )
    .addOption(
      new Option('--host <address>', 'address to listen on').argParser(parseAddress).default('127.0.0.1'),
    )
    .addOption(
      new Option('--port <number>', 'port to listen on, 0 for a free one')
        .argParser(integerBetween(0, 65_535))
        .default(3000),
    )
    .addOption(new Option('--actor <name>', 'actor of requests that name none').argParser(parseActor))
    .addOption(
      new Option('--lock-timeout <seconds>', 'how long a run waits for another run')
        .argParser(secondsBetween(0, 86_400))
        .default(30_000, '30'),
    )
    .addOption(
      new Option('--allow-host <name>', 'additional host name to accept in requests; may be repeated')
        .argParser((text, earlier: readonly string[]) => [...earlier, parseHostName(text)])
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--allow-images <hosts>',
        'other hosts whose images the viewer shows: host, host:port or *.host, separated by commas; may be repeated',
      )
        .argParser((text, earlier: readonly string[]) => [...earlier, ...parseImageHosts(text)])
        .default([], 'none'),
    )
    .addOption(
      new Option('--query-timeout <seconds>', 'deadline of a query')
        .argParser(secondsBetween(0.001, 3600))
        .default(5000, '5'),
    )
    .addOption(
      new Option('--query-rows <number>', 'maximum rows of a query result')
        .argParser(integerBetween(1, 1_000_000))
        .default(10_000),
    )
    .addOption(
      new Option('--query-memory <MiB>', 'maximum memory of a query')
        .argParser(integerBetween(64, 65_536, MIB))
        .default(384 * MIB, '384'),
    )
    .addOption(
      new Option('--body-limit <MiB>', 'maximum size of a request body')
        .argParser(integerBetween(1, 1024, MIB))
        .default(32 * MIB, '32'),
    )
  addCheckpointOptions(addCallOptions(addLogLevel(command)))
    .addOption(
      new Option(
        '--trust-actor-header <name>',
        'take the actor from this header, which a reverse proxy must set',
      ).argParser(parseActorHeader),
    )
    .option('--read-only-definition', 'refuse changes of the contract and of derivations over HTTP')
    .option('--mcp', 'serve AI agents at /mcp: the Model Context Protocol over Streamable HTTP')
  addAgentActor(command, 'mcp-')
  addAgentOptions(command, 'mcp-')
  return command.helpOption('-h, --help', 'show help').action(
    onSheet(async (flags: Flags) => {
      if (flags.mcp !== true) refuseAgentOptions(command)
      const storeThread = startStoreThread(flags.sheet)
      // Loaded on demand: help and wrong usage need none of it.
      const { serve } = await import('./run-serve.ts')
      await serve({ ...toServeOptions(flags), storeThread })
    }),
  )
}

/** Exits for options about agents without `--mcp`, which would have no effect. */
function refuseAgentOptions(command: Command): void {
  const given = command.options.find(
    (option) =>
      option.long?.startsWith('--mcp-') && command.getOptionValueSource(option.attributeName()) === 'cli',
  )
  if (given !== undefined) command.error(`error: option '${given.flags}' needs '--mcp'`)
}

function toServeOptions(flags: Flags): Omit<ServeOptions, 'storeThread'> {
  return {
    sheet: flags.sheet,
    host: flags.host,
    port: flags.port,
    actor: flags.actor ?? null,
    lockTimeoutMs: flags.lockTimeout,
    allowedHosts: flags.allowHost,
    imageHosts: [...new Set(flags.allowImages)],
    queryLimits: {
      timeoutMs: flags.queryTimeout,
      maxRows: flags.queryRows,
      maxMemoryBytes: flags.queryMemory,
    },
    bodyLimit: flags.bodyLimit,
    logLevel: flags.logLevel,
    stubFile: flags.stub ?? null,
    callableHosts: callableHosts(flags),
    scripts: flags.allowScripts ?? 'off',
    trustedActorHeader: flags.trustActorHeader ?? null,
    fixedDefinition: flags.readOnlyDefinition ?? false,
    agents: flags.mcp === true ? prefixedAgentScope(flags) : null,
    ...checkpointOptions(flags),
  }
}
