import { Option, type Command } from 'commander'
import { ServiceError } from '../../errors/service-error.ts'
import type { SheetOptions } from '../../sheet/open-sheet.ts'
import type { Logger, Sheet } from '../../sheet/sheet.ts'
import { startStoreThread } from '../../sheet/store-thread.ts'
import type { Transport } from '../../sheet/transports.ts'
import { addCallOptions, callableHosts } from './call-options.ts'
import { addCheckpointOptions, checkpointOptions, type CheckpointFlags } from './checkpoint-options.ts'
import { EXIT, type ExitCode } from '../terminal/exit-codes.ts'
import { inOneLine } from '../terminal/one-line.ts'
import { errorText } from '../terminal/error-text.ts'
import { parseActor, secondsBetween } from './option-values.ts'
import { Output, OUTPUT_FORMATS, OutputClosed, type OutputFormat } from '../terminal/output.ts'
import { addStoreOption, type StoreFlags } from './sheet-argument.ts'
import { UsageError } from './usage-error.ts'

/** The parsed options of {@link addOutputOptions}. */
export interface OutputFlags {
  readonly format?: OutputFormat
  readonly json?: true
}

/** The parsed options of {@link addSheetOptions}, with those that `onSheet` adds; times in milliseconds. */
export interface SheetFlags extends OutputFlags, StoreFlags, CheckpointFlags {
  /** The sheet's directory, or the URL of its store. */
  readonly sheet: string
  readonly lockTimeout: number
  readonly logLevel: LogLevel
  readonly actor?: string
  readonly stub?: string
  readonly allowNet?: readonly string[]
  readonly offline?: true
  readonly allowScripts?: SheetOptions['scripts']
  readonly queryLimits?: SheetOptions['queryLimits']
}

const LOG_LEVELS = ['info', 'warn', 'error', 'silent'] as const
type LogLevel = (typeof LOG_LEVELS)[number]

/** The open sheet and the output of a command. */
export interface CommandContext {
  readonly sheet: Sheet
  readonly out: Output
}

/** The exit code of a command; undefined is 0. */
type Outcome = ExitCode | void

/** Adds `--format` and `--json`. */
export function addOutputOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--format <format>',
        'write the result as table, json or ndjson (default: table at a terminal, else json)',
      ).choices(OUTPUT_FORMATS),
    )
    .addOption(new Option('--json', 'write JSON, as --format json').conflicts('format'))
}

/**
 * Adds `--format` and the options for opening a sheet; with `writes` also `--actor`, with `calls` the options for
 * calls. Without `prints` adds no `--format`, and without `names` no `--actor`. The help lists options in the order in
 * which they were added, so a command adds its own first.
 */
export function addSheetOptions(
  command: Command,
  {
    writes = false,
    calls = false,
    prints = true,
    names = writes || calls,
  }: {
    readonly writes?: boolean
    readonly calls?: boolean
    readonly prints?: boolean
    readonly names?: boolean
  } = {},
): Command {
  if (names) {
    command.addOption(
      new Option('--actor <name>', 'actor that writes are attributed to')
        .argParser(parseActor)
        .env('COLOPHON_ACTOR'),
    )
  }
  if (writes || calls) addCheckpointOptions(command)
  if (calls) addCallOptions(command)
  if (prints) addOutputOptions(command)
  return addLockTimeout(addStoreOption(command)).addOption(
    new Option('--log-level <level>', 'least serious messages to log on standard error')
      .choices(LOG_LEVELS)
      .default('warn'),
  )
}

/** Adds `--lock-timeout`, in milliseconds once it is parsed. */
export function addLockTimeout(command: Command): Command {
  return command.addOption(
    new Option('--lock-timeout <seconds>', 'how long to wait for other writers and runs')
      .argParser(secondsBetween(0, 86_400))
      .default(30_000, '30'),
  )
}

/**
 * Opens the sheet, does the work, and closes the sheet. The work returns the exit code. A ServiceError is printed in
 * one line on standard error and exits with 1, a UsageError with 2; a closed output exits with 0.
 */
export function withSheet(
  flags: SheetFlags,
  work: (context: CommandContext) => Promise<Outcome>,
): Promise<void> {
  const logged = new Set<string>()
  return settle(flags, logged, async (out) => {
    const sheet = await open(flags, loggerTo(out, flags.logLevel, logged))
    try {
      return await work({ sheet, out })
    } finally {
      await sheet.close()
    }
  })
}

/** Does work without an open sheet; see {@link withSheet}. */
export function withOutput(flags: OutputFlags, work: (out: Output) => Promise<Outcome>): Promise<void> {
  return settle(flags, new Set(), work)
}

/** Runs a command and sets the exit code. Errors in `logged` were printed already, and are not repeated. */
async function settle(
  { json, format }: OutputFlags,
  logged: ReadonlySet<string>,
  work: (out: Output) => Promise<Outcome>,
): Promise<void> {
  const out = new Output(json === true ? 'json' : (format ?? null))
  try {
    process.exitCode = (await work(out)) ?? EXIT.done
  } catch (error) {
    if (error instanceof OutputClosed) {
      process.exitCode = EXIT.done
    } else if (error instanceof UsageError) {
      out.fault(error.message)
      process.exitCode = EXIT.usage
    } else if (error instanceof ServiceError) {
      if (!logged.has(error.message)) out.fault(errorText(error))
      process.exitCode = EXIT.error
    } else {
      throw error
    }
  }
}

async function open(flags: SheetFlags, logger: Logger): Promise<Sheet> {
  const storeThread = startStoreThread(flags.sheet)
  // Loaded on demand: help and wrong usage need none of it.
  const [{ openSheet }, transport] = await Promise.all([
    import('../../sheet/open-sheet.ts'),
    transportOf(flags),
  ])
  return openSheet(flags.sheet, {
    defaultActor: flags.actor ?? null,
    lockTimeoutMs: flags.lockTimeout,
    logger,
    transport,
    ...(flags.allowScripts !== undefined && { scripts: flags.allowScripts }),
    storeThread,
    ...checkpointOptions(flags),
    ...(flags.queryLimits && { queryLimits: flags.queryLimits }),
  })
}

async function transportOf({ stub, offline, allowNet }: SheetFlags): Promise<Transport> {
  // A command without these options makes no calls.
  if (allowNet === undefined) return (await import('../../sheet/calls/no-calls.ts')).noCalls()
  const { callTransport } = await import('./call-transport.ts')
  return callTransport({ stubFile: stub ?? null, callableHosts: callableHosts({ allowNet, offline }) })
}

/**
 * Returns a logger that writes plain lines, and adds its messages to `logged`, since operations throw the same errors.
 */
function loggerTo(out: Output, level: LogLevel, logged: Set<string>): Logger {
  const logTo = (of: Exclude<LogLevel, 'silent'>, write: (message: string) => void) => {
    return (_details: object, message: string) => {
      if (LOG_LEVELS.indexOf(of) < LOG_LEVELS.indexOf(level)) return
      logged.add(message)
      write(message)
    }
  }
  return {
    info: logTo('info', (message) => out.note(`info: ${inOneLine(message)}`)),
    warn: logTo('warn', (message) => out.note(`warning: ${inOneLine(message)}`)),
    error: logTo('error', (message) => out.fault(message)),
  }
}
