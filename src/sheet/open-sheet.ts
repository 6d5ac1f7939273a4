import { lstatSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { DerivationKind } from '../derivation/definition/derivation-kind.ts'
import { createKinds } from '../derivation/kinds.ts'
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
import { Sheet, type Logger } from './sheet.ts'
import { checkStoreFiles } from './check-store-files.ts'
import { isStoreUrl, STORE_VARIABLE } from './store-place.ts'
import type { StoreThread } from './store-thread.ts'
import { StoredDefinition } from './definition/stored-definition.ts'
import { NetworkTransport, type Transport } from './transports.ts'

export interface SheetOptions {
  /** Who writes when a request names nobody; null when a request must. */
  readonly defaultActor: string | null
  /** How long an operation waits for a lock (D31). */
  readonly lockTimeoutMs: number
  /** Limits of SQL from users (D19). */
  readonly queryLimits: QueryLimits
  /** What derivations call out through. */
  readonly transport: Transport
  /** Kinds of derivations beside those of the service. */
  readonly kinds: readonly DerivationKind[]
  /** Whether runs under way go on at another server or worker when the sheet is closed; by default they end. */
  readonly handsRunsOver: boolean
  /** The time by which failed cells are left alone, in milliseconds since 1970; by default that of the system. */
  readonly now: () => number
  /** Where it has been started already. */
  readonly storeThread: StoreThread | undefined
  readonly logger: Logger
}

/** Who imports a sheet's records when nobody is named. */
const IMPORTER = 'system'

const LOCK_TIMEOUT_MS = 30_000

const SILENT: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

/**
 * Opens a sheet: that in a directory, whose store is made from `records.jsonl` if there is none (D2), or that of a store's
 * URL ({@link isStoreUrl}), which has its definition in the store. A broken contract or record file is logged and told by
 * every operation until it is mended (D3). Throws SheetError where there is no sheet, RecordsError where a store at a URL
 * cannot be reached.
 */
export async function openSheet(path: string, options: Partial<SheetOptions> = {}): Promise<Sheet> {
  const { defaultActor = null, lockTimeoutMs = LOCK_TIMEOUT_MS, logger = SILENT } = options
  if (!isStoreUrl(path)) checkSheetDirectory(path)
  const place = isStoreUrl(path)
    ? await storedSheet(path, { ...options, lockTimeoutMs })
    : sheetDirectory(path, { ...options, lockTimeoutMs, logger })
  const { transport = new NetworkTransport() } = options
  const kinds = createKinds({ transport, env: place.env, own: options.kinds ?? [] })
  const sheet = new Sheet({
    name: place.name,
    dialect: place.dialect,
    defaultActor,
    lockTimeoutMs,
    handsRunsOver: options.handsRunsOver ?? false,
    now: options.now,
    logger,
    events: new EventBus(),
    ...(place.frames !== undefined && { frames: place.frames }),
    files: new DefinitionFiles(place.source, kinds),
    openStore: (definition) => place.openStore(definition),
    warnings: () => place.warnings(),
    closeTransport: () => transport.close(),
  })
  await sheet.deriving().catch(() => undefined)
  tellOfFault(sheet, logger)
  return sheet
}

/** What the kinds of places of a sheet differ in. */
interface SheetPlace {
  readonly name: string
  readonly dialect: Dialect
  readonly source: DefinitionSource
  /** What the subscribers of all servers are told, where they share the sheet. */
  readonly frames?: SharedFrames
  /** What derivations may have of the environment (D23). */
  readonly env: NodeJS.ProcessEnv
  openStore(definition: StoreDefinition): Promise<SheetStore>
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
    env: process.env,
    openStore: async (definition) => {
      checkStoreFiles(directory)
      // A store that cannot be opened has its thread ended.
      const given = writer
      writer = undefined
      return SqliteStore.open(directory, {
        definition,
        actor: defaultActor ?? IMPORTER,
        lockTimeoutMs,
        queryLimits: queryLimits ?? DEFAULT_QUERY_LIMITS,
        writer: given,
        onSourceDiffers: () => logger.warn({ file: 'records.jsonl' }, SOURCE_DIFFERS),
        onSetAside: ({ file, lines }) => logger.warn({ file: basename(file), lines }, setAsideWarning(file)),
      })
    },
    warnings: () => setAsideFiles(join(directory, 'provenance.jsonl')).map(setAsideWarning),
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
    env: withoutStoreSecrets(process.env),
    openStore: (definition) =>
      PostgresStore.open(url, {
        definition,
        directory: null,
        actor: defaultActor ?? IMPORTER,
        lockTimeoutMs,
        queryLimits: queryLimits ?? DEFAULT_QUERY_LIMITS,
        frames: revisions.frames,
        onSourceDiffers: () => undefined,
      }),
    warnings: () => [],
  }
}

/**
 * The definition files of the sheet at a place, to be closed when they have been read. Throws SheetError where there is no
 * sheet, RecordsError for a store that cannot be reached.
 */
export async function openDefinition(path: string): Promise<DefinitionSource> {
  if (isStoreUrl(path)) return readDefinition(await openRevisions(path, LOCK_TIMEOUT_MS))
  checkSheetDirectory(path)
  return new DefinitionDirectory(resolve(path))
}

/**
 * Tries whether the store of a sheet's directory can be opened with a definition, or made where there is none; changes nothing.
 * Throws what opening it would throw.
 */
export async function tryStoreOf(path: string, definition: StoreTrial): Promise<void> {
  const directory = resolve(path)
  checkStoreFiles(directory)
  const { tryStore } = await import('../store/sqlite/definition/try-store.ts')
  await tryStore(directory, { ...definition, lockTimeoutMs: LOCK_TIMEOUT_MS })
}

type StoreTrial = Pick<StoreDefinition, 'contract'> & { readonly targets: readonly TargetDefinition[] }

/** The revisions of the sheet of a store's URL. Throws SheetError where there is none, RecordsError for a store away. */
async function openRevisions(url: string, lockTimeoutMs: number): Promise<RevisionStore> {
  // Loaded only now: most sheets are directories.
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

/** Puts a sheet's definition, and at first the sheet itself, into a store; see pushRevision. */
export async function pushToStore(url: string, push: RevisionPush): Promise<PushOutcome> {
  checkStoreFiles(push.directory)
  const { pushRevision } = await import('../store/postgres/definition/push-revision.ts')
  return pushRevision(url, push)
}

/** The way into the store is for nobody whom a derivation calls. */
function withoutStoreSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => name !== STORE_VARIABLE && name !== 'PGPASSWORD'),
  )
}

/** Tells the operator at once of a fault that only runs would meet. */
function tellOfFault(sheet: Sheet, logger: Logger): void {
  try {
    sheet.policies()
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    logger.error({ type: error.type }, error.message)
  }
}

function setAsideWarning(file: string): string {
  return (
    'provenance.jsonl had lines that the store does not have: another program appended them, or sheet.db was replaced by an ' +
    `older copy; they are in ${basename(file)} now: look at them, then delete that file`
  )
}

const SOURCE_DIFFERS =
  'records.jsonl differs from what was imported, and is not read again by itself: to import it, send its records ' +
  'to POST /api/records, or stop the server and move sheet.db away to start over from the file'

/** Throws SheetError for a path at which there is no sheet. */
export function checkSheetDirectory(path: string): void {
  const directory = resolve(path)
  if (!isDirectory(directory)) {
    throw new SheetError(`${path} is not a directory; a sheet is a directory with a contract.yaml`)
  }
  // What is wrong with one that is there is told with every request, until it is mended (D3).
  if (lstatSync(join(directory, 'contract.yaml'), { throwIfNoEntry: false }) === undefined) {
    throw new SheetError(`${path} has no contract.yaml; a sheet is a directory with a contract.yaml`)
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
