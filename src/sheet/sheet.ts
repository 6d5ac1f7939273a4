import type { Contract } from '../contract/contract.ts'
import type { Derivation, Resource } from '../derivation/definition/derivation-kind.ts'
import { Limiter } from '../derivation/limiter/limiter.ts'
import { checkReads, checkSources } from '../derivation/plan/check-sources.ts'
import type { HostPolicies } from '../derivation/definition/host-policies.ts'
import type { DerivationSource } from '../derivation/parse-derivation.ts'
import { ContractError, ServiceError, StoppingError } from '../errors/service-error.ts'
import type { EventBus } from '../events/event-bus.ts'
import type { Frame } from '../events/frame.ts'
import { OutdatedDefinitionError } from '../store/revision-store.ts'
import type { SharedFrames } from '../store/shared-frames.ts'
import type { Dialect, SheetStore, StoreDefinition } from '../store/sheet-store.ts'
import { ActiveRuns } from './active-run.ts'
import {
  targetDefinitions,
  type DefinitionFile,
  type DefinitionFiles,
  type Derivations,
} from './definition/definition-files.ts'
import { Checkpoints, type CheckpointOptions } from './log/checkpoints.ts'
import { SheetFileError } from '../store/sheet-files/sheet-paths.ts'

/** The log for the operator; a subset of pino's logger. */
export interface Logger {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** The contract and the store at the time of a request. */
export interface CurrentSheet {
  readonly contract: Contract
  readonly store: SheetStore
}

/** A current sheet with its derivations. */
export interface DerivingSheet extends CurrentSheet {
  readonly derivations: Derivations
}

/** The basis of a change of the definition. */
export interface DefinitionBase {
  readonly store: SheetStore
  readonly files: DefinitionFiles
}

/** The result of reading the files: each part, or its error. */
type Reading =
  | { readonly fault: ServiceError }
  | {
      readonly contract: Contract
      readonly store: SheetStore
      readonly derivations: Derivations | ContractError
    }

export interface SheetParts {
  readonly name: string
  readonly dialect: Dialect
  readonly defaultActor: string | null
  readonly lockTimeoutMs: number
  readonly events: EventBus
  /** The frames that servers share; absent when {@link events} has the only subscribers. */
  readonly frames?: SharedFrames
  /** See {@link Sheet.handOverRuns}; by default they end. */
  readonly handOverRuns?: boolean
  /** See {@link Sheet.hasFixedDefinition}; false by default. */
  readonly fixedDefinition?: boolean
  /** Returns the time in milliseconds since 1970; by default that of the store's clock. */
  readonly now?: (() => number) | undefined
  readonly logger: Logger
  readonly files: DefinitionFiles
  /** Opens the store, or creates it; null opens an existing one with the definition that it follows. */
  openStore(definition: StoreDefinition | null, onLines: (count: number) => void): Promise<SheetStore>
  /** See {@link Sheet.warnings}. */
  warnings(): readonly string[]
  closeTransport(): Promise<void>
  /** The signing and publishing of checkpoints; by default neither. */
  readonly checkpoints?: CheckpointOptions
  /** See {@link Sheet.confinement}. */
  readonly confinement: string
  /** The environment variables that derivations may use. */
  readonly env: NodeJS.ProcessEnv
}

/**
 * An open sheet, which all operations take. Edited files take effect with the next operation, and broken ones are read
 * again until they are fixed (D3).
 */
export class Sheet {
  /** The name of the sheet's directory, or of the schema that its store is in. */
  readonly name: string
  /** The SQL dialect of its store, known also while that cannot be opened. */
  readonly dialect: Dialect
  readonly defaultActor: string | null
  readonly lockTimeoutMs: number
  readonly events: EventBus
  /** The runs that this process has under way. */
  readonly runs = new ActiveRuns()
  readonly logger: Logger
  /** Limits the calls of this process to each resource. */
  readonly limiter = new Limiter()
  /** Whether runs under way continue in another process when the sheet is closed, where processes share runs. */
  readonly handOverRuns: boolean
  /** Whether the service may not change the definition; people still may edit its files. */
  readonly hasFixedDefinition: boolean
  /** Makes checkpoints of the log. */
  readonly checkpoints: Checkpoints
  readonly #parts: SheetParts
  readonly #stopping = new AbortController()
  readonly #runs = new Set<Promise<unknown>>()
  #store: SheetStore | null = null
  #reading: Reading | null = null
  /** Whether the contract was checked since the event loop last called anything. */
  #isContractChecked = false
  #refreshing: Promise<Reading> | null = null
  /** While derivations and their sources are read again: the reading before, which is valid for what needs none of them. */
  #before: Reading | null = null
  /** The check of the cells of a reading against its sources. */
  #checks: { readonly reading: Reading; readonly done: Promise<void> } | null = null
  /** Settles when the changes of the definition so far are done. */
  #changing: Promise<unknown> = Promise.resolve()
  /** A change of the definition that is being stored. */
  #committing: Promise<unknown> | null = null
  /** Messages of the errors when the files were last read. */
  #logged: ReadonlySet<string> = new Set()
  #isUnavailable = false
  #closed: Promise<void> | null = null

  constructor(parts: SheetParts) {
    this.name = parts.name
    this.dialect = parts.dialect
    this.defaultActor = parts.defaultActor
    this.lockTimeoutMs = parts.lockTimeoutMs
    this.events = parts.events
    this.logger = parts.logger
    this.handOverRuns = parts.handOverRuns ?? false
    this.hasFixedDefinition = parts.fixedDefinition ?? false
    this.#parts = parts
    this.checkpoints = new Checkpoints({
      signer: parts.checkpoints?.signer ?? null,
      publish: parts.checkpoints?.publish ?? null,
      store: () => this.#store,
      during: (work) => void this.during(work),
      warn: (message) => parts.logger.warn({}, message),
    })
  }

  /** Aborted when the sheet is being closed. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  /**
   * Returns the sheet for operations that only read records. Throws ContractError while the contract is broken,
   * RecordsError while the store cannot be opened.
   */
  async current(): Promise<CurrentSheet> {
    const reading = await this.#read(false)
    if ('fault' in reading) throw reading.fault
    return reading
  }

  /**
   * Returns the sheet for operations that need its derivations, but no states of cells. Throws ContractError for a broken derivation file
   * too.
   */
  async defined(): Promise<DerivingSheet> {
    return definedBy(await this.#read(true))
  }

  /** Returns the sheet for operations on derived cells, once they are checked against the sources of derivations. Throws as {@link defined}. */
  async deriving(): Promise<DerivingSheet> {
    const reading = await this.#read(true)
    const { contract, store, derivations } = definedBy(reading)
    await this.#checkSources(
      reading,
      store,
      derivations.levels.flat().filter(({ sources }) => sources !== null),
    )
    await checkReads(store, derivations.levels.flat())
    return { contract, store, derivations }
  }

  /** Checks the cells of derivations whose sources have changed, once for each reading. */
  async #checkSources(
    reading: Reading,
    store: SheetStore,
    derivations: readonly Derivation[],
  ): Promise<void> {
    if (derivations.length === 0) return
    if (this.#checks?.reading !== reading) {
      this.#checks = { reading, done: checkSources(store, derivations, this.stopping) }
    }
    try {
      await this.#checks.done
    } catch (error) {
      // The next operation tries again.
      if (this.#checks?.reading === reading) this.#checks = null
      throw error
    }
  }

  /**
   * Returns the store and the definition files, as a change of them takes them: valid or not. Throws the error of a store that
   * was never opened.
   */
  async definition(): Promise<DefinitionBase> {
    const reading = await this.#read(true)
    if (this.#store === null) throw 'fault' in reading ? reading.fault : new Error('the store is not open')
    return { store: this.#store, files: this.#parts.files }
  }

  /** Returns the definition files as they are, valid or not, by their paths; also while the store was never opened. */
  async texts(): Promise<ReadonlyMap<string, Uint8Array>> {
    await this.#read(true)
    return this.#parts.files.texts()
  }

  /** Carries out changes of the definition one after the other. */
  changingDefinition<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#changing.then(work)
    this.#changing = done.catch(() => undefined)
    return this.during(done)
  }

  /**
   * Uses the definition as it was last read while a change is stored and its files are written. After an error the next operation reads
   * the definition again: the change may be stored.
   */
  async whileCommitting<T>(commit: Promise<T>): Promise<T> {
    this.#committing = commit
    try {
      return await commit
    } catch (error) {
      this.#reading = null
      throw error
    } finally {
      this.#committing = null
    }
  }

  /** Returns the time by the clock that times in the store come from, in milliseconds since 1970. Throws as {@link current} while the store was never opened. */
  async now(): Promise<number> {
    const { now } = this.#parts
    if (now !== undefined) return now()
    // A change that repairs the definition asks while it is not valid.
    const store = this.#store ?? (await this.current()).store
    return Date.parse(await store.responses.now())
  }

  /**
   * Returns the policies for the hosts that derivations call, of the present `transport.yaml`. Throws ContractError.
   */
  policies(): HostPolicies {
    return this.#parts.files.policies()
  }

  /** Whether this process has an environment variable that derivations may use. */
  hasVariable(name: string): boolean {
    return (this.#parts.env[name] ?? '') !== ''
  }

  /** Returns warnings for the operator, each a sentence, such as about lines set aside from the log. */
  warnings(): readonly string[] {
    return this.#parts.warnings()
  }

  /** Returns the definition files as they were last read. Throws ContractError. */
  definitionFiles(): readonly DefinitionFile[] {
    return this.#parts.files.all()
  }

  /** Returns the reason why this machine does not allow derivations a resource; null when it does. */
  refusalOf(resource: Resource): string | null {
    return this.#parts.files.refusalOf(resource)
  }

  /** The way in which scripts of the sheet are confined, such as `namespaces`; `unconfined`, or `refused`. */
  get confinement(): string {
    return this.#parts.confinement
  }

  /** Parses a derivation file, which may be an earlier version. Throws ContractError. */
  parseDerivation(source: DerivationSource, contract: Contract): Derivation {
    return this.#parts.files.parse(source, contract)
  }

  /** Parses a derivation file as {@link parseDerivation} does, and reads its sources as they are now. Throws ContractError. */
  async readDerivation(source: DerivationSource, contract: Contract): Promise<Derivation> {
    return this.#parts.files.readAlone(source, contract)
  }

  /** Publishes a frame to the subscribers of this process, or of all servers. Never waits or throws. */
  publish(frame: Frame): void {
    const shared = this.frames
    if (shared === undefined) this.events.publish(frame)
    else shared.publish(SHEET_STREAM, [JSON.stringify(frame)])
  }

  /** The frames that servers share; undefined when each process has its own. */
  get frames(): SharedFrames | undefined {
    return this.#parts.frames
  }

  /** Delays closing the sheet until a run has ended. */
  async during<T>(run: Promise<T>): Promise<T> {
    this.#runs.add(run)
    try {
      return await run
    } finally {
      this.#runs.delete(run)
    }
  }

  /**
   * Stops runs under way and refuses new ones; what they have stored stays, and other operations continue. Resolves
   * when the runs have ended and the subscribers have received that (D40).
   */
  async stopRuns(reason: ServiceError = new StoppingError()): Promise<void> {
    this.#stopping.abort(reason)
    await Promise.allSettled(this.#runs)
    await this.frames?.settled()
  }

  /** Stops runs, finishes writes under way and closes the store. Further calls return the promise of the first. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  async #close(): Promise<void> {
    await this.stopRuns()
    this.events.close()
    await this.#refreshing?.catch(() => undefined)
    await this.#store?.close()
    await this.#parts.files.close()
    this.limiter.close()
    await this.#parts.closeTransport()
  }

  async #read(withDerivations: boolean): Promise<Reading> {
    for (let tries = 1; ; tries += 1) {
      const reading = await this.#readOnce(withDerivations)
      // Bounded, so that frequent pushes do not block requests forever.
      if (!isOutdated(reading) || tries === READ_TRIES) return reading
    }
  }

  async #readOnce(withDerivations: boolean): Promise<Reading> {
    const refreshing = this.#parts.files.refresh()
    if (refreshing === undefined) {
      await pendingInput()
    } else {
      const fault = await serviceErrorOf(refreshing)
      if (fault !== null) return this.#unavailable(fault)
      // Forgets the messages, so that the next outage is logged again.
      if (this.#isUnavailable) this.#log([])
      this.#isUnavailable = false
    }
    let contractChanged = false
    if (this.#before !== null && !withDerivations) {
      contractChanged = this.#contractChanged()
      if (!contractChanged) return this.#before
    }
    while (this.#refreshing !== null || this.#committing !== null) {
      // Until a change is complete, some of its files may have the new text and others the old.
      const known = this.#refreshing === null && !contractChanged ? this.#reading : null
      if (known !== null && isSettled(known)) return known
      await (this.#refreshing ?? this.#committing)?.catch(() => undefined)
    }
    const { files } = this.#parts
    contractChanged = this.#contractChanged() || contractChanged
    const known = this.#reading
    const isKnown = known !== null && isSettled(known)
    const derivationsChanged = (withDerivations || contractChanged || !isKnown) && files.derivationsChanged()
    if (isKnown && !contractChanged && !derivationsChanged) return known
    this.#reading = null
    this.#before = contractChanged || known === null || 'fault' in known ? null : known
    this.#refreshing = this.#refresh()
    try {
      return (this.#reading = await this.#refreshing)
    } finally {
      this.#refreshing = null
      this.#before = null
    }
  }

  /** Checks once for all requests that the event loop resumes together: all of them had arrived before the check. */
  #contractChanged(): boolean {
    if (this.#isContractChecked) return false
    this.#isContractChecked = true
    process.nextTick(() => (this.#isContractChecked = false))
    return this.#parts.files.contractChanged()
  }

  async #refresh(): Promise<Reading> {
    const faults: ServiceError[] = []
    try {
      const contract = this.#parts.files.contract()
      // Before anything waits: another request may meanwhile have read newer files, which this definition is not of.
      const { revision } = this.#parts.files
      const base = this.#parts.files.base()
      const derivations = await this.#derivations(contract)
      if (derivations instanceof ContractError) faults.push(derivations)
      const targets = derivations instanceof ContractError ? null : targetDefinitions(derivations)
      const store = await this.#define({
        contract,
        targets,
        ...(revision !== null && { revision }),
        ...(base !== null && { base }),
      })
      return { contract, store, derivations }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const fault = error instanceof ContractError ? await this.#openToRepair(error) : error
      if (!(fault instanceof OutdatedDefinitionError)) faults.push(fault)
      return { fault }
    } finally {
      this.#log(faults)
    }
  }

  /**
   * Opens the store with the definition that it follows, so that changes can repair the files. Returns the error of the files, or that
   * they have to be read again.
   */
  async #openToRepair(fault: ContractError): Promise<ServiceError> {
    if (this.#store !== null) return fault
    try {
      this.#store = await this.#openStore(null)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      if (error instanceof OutdatedDefinitionError) return error
    }
    return fault
  }

  async #derivations(contract: Contract): Promise<Derivations | ContractError> {
    try {
      return await this.#parts.files.derivations(contract)
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      return error
    }
  }

  #openStore(definition: StoreDefinition | null): Promise<SheetStore> {
    return this.#parts.openStore(definition, (count) => this.checkpoints.noteLines(count))
  }

  async #define(definition: StoreDefinition): Promise<SheetStore> {
    if (this.#store === null) {
      this.#store = await this.#openStore(definition)
    } else {
      await this.#store.define(definition)
    }
    return this.#store
  }

  /** The files cannot be checked, for example because their database is unreachable; the last reading is kept. */
  #unavailable(fault: ServiceError): Reading {
    this.#log([fault])
    this.#isUnavailable = true
    return { fault }
  }

  /** Logs errors, each once for as long as it persists. */
  #log(faults: readonly ServiceError[]): void {
    for (const { type, message } of faults) {
      if (!this.#logged.has(message)) this.#parts.logger.error({ type }, message)
    }
    this.#logged = new Set(faults.map(({ message }) => message))
  }
}

/** Returns all parts of a reading. Throws the error of the one that is broken. */
function definedBy(reading: Reading): DerivingSheet {
  if ('fault' in reading) throw reading.fault
  const { contract, store, derivations } = reading
  if (derivations instanceof ContractError) throw derivations
  return { contract, store, derivations }
}

/** The stream of the sheet's frames among those that servers share. */
export const SHEET_STREAM = 'sheet'

/** Attempts to read a definition while other pushes replace it before the store can apply it. */
const READ_TRIES = 10

let input: Promise<void> | null = null

/**
 * Resolves when the event loop has read all input that had arrived. Requests that arrived together continue together, so that a
 * check that is the same for all, such as for an edited file, is made once, and after the last of them arrived.
 */
function pendingInput(): Promise<void> {
  return (input ??= new Promise((resolve) => {
    setImmediate(() => {
      input = null
      resolve()
    })
  }))
}

function isOutdated(reading: Reading): boolean {
  return 'fault' in reading && reading.fault instanceof OutdatedDefinitionError
}

/** Returns the ServiceError that a promise is rejected with; null once it is fulfilled. Throws any other error. */
async function serviceErrorOf(promise: Promise<void>): Promise<ServiceError | null> {
  try {
    await promise
    return null
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}

/**
 * Whether a reading is valid until the definition files change. A store that could not be opened may become available
 * without that.
 */
function isSettled(reading: Reading): boolean {
  if (!('fault' in reading)) return true
  return reading.fault instanceof ContractError && !(reading.fault instanceof SheetFileError)
}
