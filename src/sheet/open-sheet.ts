import { lstatSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { DerivationKind } from '../derivation/derivation-kind.ts'
import { createKinds } from '../derivation/kinds.ts'
import { ContractError, SheetError } from '../errors/service-error.ts'
import { EventBus } from '../events/event-bus.ts'
import { SqliteStore } from '../store/sqlite/sqlite-store.ts'
import { DEFAULT_QUERY_LIMITS, type QueryLimits } from '../store/sqlite/sql/sql-pool.ts'
import { DefinitionFiles } from './definition-files.ts'
import { Sheet, type Logger } from './sheet.ts'
import { checkStoreFiles } from './store-files.ts'
import type { Transport } from './transports.ts'

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
  readonly logger: Logger
}

/** Who imports a sheet's records when nobody is named. */
const IMPORTER = 'system'

const SILENT: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

/**
 * Opens the sheet in a directory; its store is made from `records.jsonl` if there is none (D2). A broken contract or
 * record file is logged and told by every operation until it is mended (D3). Throws SheetError where there is no
 * sheet.
 */
export async function openSheet(path: string, options: Partial<SheetOptions> = {}): Promise<Sheet> {
  const directory = resolve(path)
  checkSheetDirectory(path)
  const { defaultActor = null, lockTimeoutMs = 30_000, logger = SILENT } = options
  const { queryLimits = DEFAULT_QUERY_LIMITS, kinds = [] } = options
  const transport = options.transport ?? (await networkTransport())
  const sheet = new Sheet({
    name: basename(directory),
    defaultActor,
    lockTimeoutMs,
    logger,
    events: new EventBus(),
    files: new DefinitionFiles(directory, createKinds({ transport, own: kinds })),
    openStore: async (definition) => {
      checkStoreFiles(directory)
      return SqliteStore.open(directory, {
        definition,
        actor: defaultActor ?? IMPORTER,
        lockTimeoutMs,
        queryLimits,
        onSourceDiffers: () => logger.warn({ file: 'records.jsonl' }, SOURCE_DIFFERS),
      })
    },
    closeTransport: () => transport.close(),
  })
  await sheet.deriving().catch(() => undefined)
  tellOfFault(sheet, logger)
  return sheet
}

/** Loaded only when it is needed: it is a good part of the program, and most commands call nobody. */
async function networkTransport(): Promise<Transport> {
  const { UndiciTransport } = await import('./transports.ts')
  return new UndiciTransport()
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
