import { lstatSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { DerivationKind } from '../derivation/definition/derivation-kind.ts'
import { ContractError, SheetError } from '../errors/service-error.ts'
import { EventBus } from '../events/event-bus.ts'
import { setAsideFiles } from '../provenance/set-aside.ts'
import type { PushOutcome, RevisionPush, RevisionStore } from '../store/revision-store.ts'
import type { SharedFrames } from '../store/shared-frames.ts'
import type { Dialect, SheetStore, StoreDefinition, TargetDefinition } from '../store/sheet-store.ts'
import { SqliteStore } from '../store/sqlite/sqlite-store.ts'
import { DEFAULT_QUERY_LIMITS, type QueryLimits } from '../store/sqlite/sql/sql-pool.ts'
import { DefinitionDirectory } from './definition/definition-directory.ts'
import { DefinitionFiles } from './definition/definition-files.ts'
import type { DefinitionSource } from './definition/definition-source.ts'
import { loadKinds } from './definition/load-kinds.ts'
import { scriptProcesses, type ScriptPermission } from './scripts/script-processes.ts'
import { publishBy } from './log/publish-command.ts'
import { readSignKey } from './log/sign-key.ts'
import { Sheet, type Logger } from './sheet.ts'
import { checkStoreFiles } from './definition/check-store-files.ts'
import { isStoreUrl, STORE_VARIABLE } from './store-url.ts'
import type { StoreThread } from './store-thread.ts'
import { StoredDefinition } from './definition/stored-definition.ts'
import { NetworkTransport, type Transport } from './transports.ts'

export interface SheetOptions {
  /** The actor of requests that name none; null when they must name one. */
  readonly defaultActor: string | null
  /** The time, in milliseconds, after which waiting for a lock fails (D31). */
  readonly lockTimeoutMs: number
  /** Limits of SQL from users (D19). */
  readonly queryLimits: QueryLimits
  /** The transport of derivations' calls. */
  readonly transport: Transport
  /** The permission of scripts of the sheet; `off` by default, since a sheet may come from an untrusted source. */
  readonly scripts: ScriptPermission
  /** The environment variables that derivations may use; by default those of the process. */
  readonly env: NodeJS.ProcessEnv
  /** Kinds of derivations in addition to the built-in ones. */
  readonly kinds: readonly DerivationKind[]
  /** Whether runs under way continue at another server or worker when the sheet is closed; by default they end. */
  readonly handOverRuns: boolean
  /** Whether the service may not change the definition; by default it may. */
  readonly fixedDefinition: boolean
  /**
   * Returns the time that decides when failed cells are retried, in milliseconds since 1970; by default the store's
   * clock.
   */
  readonly now: () => number
  /** The writing thread, if it was started earlier. */
  readonly storeThread: StoreThread | undefined
  readonly logger: Logger
  /** The file of the private key that signs checkpoints of the log; null leaves them unsigned. */
  readonly signKey: string | null
  /** A command that publishes each checkpoint, which is its standard input. */
  readonly publish: string | null
}

/** The actor of the import of a sheet's records when there is no default actor. */
const IMPORTER = 'system'

const LOCK_TIMEOUT_MS = 30_000

const SILENT: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

/**
 * Opens the sheet in a directory, whose store is created from `records.jsonl` if it does not exist (D2), or the sheet
 * at a store's URL ({@link isStoreUrl}), which has its definition in the store. A broken contract or record file is
 * logged, and reported by every operation until it is fixed (D3). Throws SheetError when there is no sheet,
 * RecordsError when a store at a URL cannot be reached, OperationError as {@link loadKinds} does.
 */
export async function openSheet(path: string, options: Partial<SheetOptions> = {}): Promise<Sheet> {
  const { defaultActor = null, lockTimeoutMs = LOCK_TIMEOUT_MS, logger = SILENT } = options
  if (!isStoreUrl(path)) checkSheetDirectory(path)
  const { transport = new NetworkTransport() } = options
  const signer = options.signKey ? readSignKey(options.signKey, isStoreUrl(path) ? null : path) : null
  const dialect = isStoreUrl(path) ? 'postgres' : 'sqlite'
  const scripts = await scriptProcesses(options.scripts ?? 'off', isStoreUrl(path) ? null : resolve(path))
  const env = options.env ?? envFor(path)
  const kinds = await loadKinds({ dialect, transport, env, scripts, own: options.kinds })
  const place = isStoreUrl(path)
    ? await storedSheet(path, { ...options, lockTimeoutMs })
    : sheetDirectory(path, { ...options, lockTimeoutMs, logger })
  const sheet = new Sheet({
    name: place.name,
    dialect: place.dialect,
    defaultActor,
    lockTimeoutMs,
    handOverRuns: options.handOverRuns ?? false,
    fixedDefinition: options.fixedDefinition ?? false,
    now: options.now,
    logger,
    events: new EventBus(),
    ...(place.frames !== undefined && { frames: place.frames }),
    files: new DefinitionFiles(place.source, kinds),
    openStore: (definition, onLines) => place.openStore(definition, onLines),
    checkpoints: { signer, publish: options.publish ? publishBy(options.publish) : null },
    warnings: () => place.warnings(),
    confinement: scripts.confinement,
    env,
    closeTransport: async () => {
      await Promise.all([transport.close(), scripts.close()])
    },
  })
  await sheet.defined().catch(() => undefined)
  logTransportError(sheet, logger)
  return sheet
}

/** The members in which a sheet in a directory and one in PostgreSQL differ. */
interface SheetPlace {
  readonly name: string
  readonly dialect: Dialect
  readonly source: DefinitionSource
  /** The frames that servers share, where they do. */
  readonly frames?: SharedFrames
  /** See {@link SheetParts.openStore}. */
  openStore(definition: StoreDefinition | null, onLines: (count: number) => void): Promise<SheetStore>
  warnings(): readonly string[]
}

type PlaceOptions = Partial<SheetOptions> & Pick<SheetOptions, 'lockTimeoutMs'>

function sheetDirectory(
  path: string,
  {
    defaultActor,
    lockTimeoutMs,
    queryLimits,
    storeThread,
    logger,
  }: PlaceOptions & Pick<SheetOptions, 'logger'>,
): SheetPlace {
  const directory = resolve(path)
  let writer = storeThread
  return {
    name: basename(directory),
    dialect: 'sqlite',
    source: new DefinitionDirectory(directory),
    openStore: async (definition, onLines) => {
      checkStoreFiles(directory)
      // A store that cannot be opened ends its thread: the next attempt starts another.
      const given = writer
      writer = undefined
      return SqliteStore.open(directory, {
        definition,
        actor: defaultActor ?? IMPORTER,
        lockTimeoutMs,
        queryLimits: queryLimits ?? DEFAULT_QUERY_LIMITS,
        writer: given,
        onLines,
        onSourceDiffers: () => logger.warn({ file: 'records.jsonl' }, SOURCE_DIFFERS),
        onSetAside: ({ file, lines, reason }) =>
          logger.warn({ file: basename(file), lines }, setAsideWarning(file, reason)),
        onTakenOver: ({ lines, proposals, unproposed, leftCheckpoints }) => {
          logger.warn({ lines, proposals }, takenOverText(lines, proposals))
          if (unproposed > 0) logger.warn({ unproposed }, UNPROPOSED)
          if (leftCheckpoints > 0) logger.warn({ leftCheckpoints }, LEFT_CHECKPOINTS)
        },
      })
    },
    warnings: () => setAsideFiles(join(directory, 'provenance.jsonl')).map((file) => setAsideWarning(file)),
  }
}

async function storedSheet(
  url: string,
  { defaultActor, lockTimeoutMs, queryLimits }: PlaceOptions,
): Promise<SheetPlace> {
  const revisions = await openRevisions(url, lockTimeoutMs)
  const { PostgresStore } = await import('../store/postgres/postgres-store.ts')
  const source = await readDefinition(revisions)
  return {
    name: revisions.name,
    dialect: 'postgres',
    source,
    frames: revisions.frames,
    openStore: (definition, onLines) =>
      PostgresStore.open(url, {
        definition,
        directory: null,
        actor: defaultActor ?? IMPORTER,
        lockTimeoutMs,
        queryLimits: queryLimits ?? DEFAULT_QUERY_LIMITS,
        frames: revisions.frames,
        present: revisions.present,
        onLines,
        onSourceDiffers: () => undefined,
      }),
    warnings: () => [],
  }
}

/**
 * Opens the definition files of the sheet at a path or URL; close the result. Throws SheetError when there is no sheet,
 * RecordsError for a store that cannot be reached.
 */
export async function openDefinition(path: string): Promise<DefinitionSource> {
  if (isStoreUrl(path)) return readDefinition(await openRevisions(path, LOCK_TIMEOUT_MS))
  checkSheetDirectory(path)
  return new DefinitionDirectory(resolve(path))
}

/**
 * Checks that the store of a sheet's directory can be opened with a definition, or created. Changes nothing. Throws
 * what opening it would throw.
 */
export async function tryStoreOf(path: string, definition: StoreTrial): Promise<void> {
  const directory = resolve(path)
  checkStoreFiles(directory)
  const { tryStore } = await import('../store/sqlite/definition/try-store.ts')
  await tryStore(directory, { ...definition, lockTimeoutMs: LOCK_TIMEOUT_MS })
}

type StoreTrial = Pick<StoreDefinition, 'contract'> & { readonly targets: readonly TargetDefinition[] }

/**
 * Opens the revisions of the sheet at a store's URL. Throws SheetError when there is none, RecordsError when the store
 * cannot be reached.
 */
async function openRevisions(url: string, lockTimeoutMs: number): Promise<RevisionStore> {
  // Loaded on demand: most sheets are directories.
  const { PostgresRevisions } = await import('../store/postgres/definition/revisions.ts')
  return PostgresRevisions.open(url, lockTimeoutMs)
}

async function readDefinition(revisions: RevisionStore): Promise<StoredDefinition> {
  try {
    return await StoredDefinition.read(revisions)
  } catch (error) {
    await revisions.close()
    throw error
  }
}

/** Pushes a sheet's definition, and the first time the sheet itself, into a store; see pushRevision. */
export async function pushToStore(url: string, push: RevisionPush): Promise<PushOutcome> {
  checkStoreFiles(push.directory)
  const { pushRevision } = await import('../store/postgres/definition/push-revision.ts')
  return pushRevision(url, push)
}

/**
 * Returns the environment variables that derivations may use (D23): without the credentials of the store, which none may send
 * to an API.
 */
function envFor(path: string): NodeJS.ProcessEnv {
  if (!isStoreUrl(path)) return process.env
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => name !== STORE_VARIABLE && name !== 'PGPASSWORD'),
  )
}

/** Logs an error of `transport.yaml` at once, since only runs would meet it. */
function logTransportError(sheet: Sheet, logger: Logger): void {
  try {
    sheet.policies()
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    logger.error({ type: error.type }, error.message)
  }
}

function setAsideWarning(file: string, reason?: string): string {
  const why = reason === undefined ? '' : `, and they cannot be taken over: ${reason}`
  return (
    'provenance.jsonl had lines that the store does not have: another program appended them, or sheet.db was replaced by an ' +
    `older copy${why}; they were moved to ${basename(file)}: check them, then delete that file`
  )
}

function takenOverText(lines: number, proposals: readonly string[]): string {
  const taken = `${lines} ${lines === 1 ? 'line' : 'lines'} of another copy of the sheet taken over from provenance.jsonl`
  if (proposals.length === 0) return taken
  return `${taken}; what both copies have changed is proposed: ${proposals.length === 1 ? 'proposal' : 'proposals'} ${proposals.join(', ')}`
}

const LEFT_CHECKPOINTS =
  'checkpoints of the other copy of the sheet do not hold for this log, and are left out of checkpoints.txt'

const UNPROPOSED =
  'values that another copy of the sheet has written, and this one as well, cannot be proposed here; they stay in provenance.jsonl as lines with the source "proposal"'

const SOURCE_DIFFERS =
  'records.jsonl differs from what was imported, and is not imported again automatically: write its records with ' +
  'an upsert, or stop the server and move sheet.db and provenance.jsonl away to start over from the file'

/** Throws SheetError when a path is not the directory of a sheet. */
export function checkSheetDirectory(path: string): void {
  const directory = resolve(path)
  if (!isDirectory(directory)) {
    throw new SheetError(
      `${path} is not a directory; a sheet is a directory with a contract.yaml`,
      'not_a_sheet',
    )
  }
  // Errors in an existing contract are reported with every request until it is fixed (D3).
  if (lstatSync(join(directory, 'contract.yaml'), { throwIfNoEntry: false }) === undefined) {
    throw new SheetError(
      `${path} has no contract.yaml; a sheet is a directory with a contract.yaml`,
      'not_a_sheet',
    )
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
