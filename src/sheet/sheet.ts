import type { Contract } from '../contract/contract.ts'
import type { Derivation } from '../derivation/definition/derivation-kind.ts'
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
import { endOfTurn } from './end-of-turn.ts'
import { SheetFileError } from './definition/sheet-paths.ts'

/** Where the service writes what its operator should know; a subset of pino's. */
export interface Logger {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** A sheet as it is at the moment of a request. */
export interface CurrentSheet {
  readonly contract: Contract
  readonly store: SheetStore
}

/** The same for operations that have to do with derived fields. */
export interface DerivingSheet extends CurrentSheet {
  readonly derivations: Derivations
}

/** What the files came to when they were last read: each part, or why it is broken. */
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
  /** The frames that servers share; absent where they are told by {@link events}. */
  readonly frames?: SharedFrames
  /** Whether runs under way go on elsewhere when the sheet is closed, where processes share them; by default they end. */
  readonly handsRunsOver?: boolean
  /** The time, in milliseconds since 1970; by default that of the clock that times in the store come from. */
  readonly now?: (() => number) | undefined
  readonly logger: Logger
  readonly files: DefinitionFiles
  openStore(definition: StoreDefinition): Promise<SheetStore>
  /** See {@link Sheet.warnings}. */
  warnings(): readonly string[]
  closeTransport(): Promise<void>
}

/**
 * An open sheet: the one thing that the use cases work on. It follows its files: what was edited counts from the next
 * operation on, and what was broken is looked at again until it is mended (D3).
 */
export class Sheet {
  /** The name of the sheet's directory, or of the schema that its store is in. */
  readonly name: string
  /** The dialect of SQL that its store takes, also while that cannot be opened. */
  readonly dialect: Dialect
  readonly defaultActor: string | null
  readonly lockTimeoutMs: number
  readonly events: EventBus
  /** The runs that this process has under way. */
  readonly runs = new ActiveRuns()
  readonly logger: Logger
  /** Whether runs under way go on elsewhere when the sheet is closed, where there is an elsewhere. */
  readonly handsRunsOver: boolean
  readonly #parts: SheetParts
  readonly #stopping = new AbortController()
  readonly #runs = new Set<Promise<unknown>>()
  #store: SheetStore | null = null
  #reading: Reading | null = null
  /** Whether the contract was looked at since the event loop last called anything. */
  #hasLooked = false
  #refreshing: Promise<Reading> | null = null
  /** Messages of the faults that there were when the files were last read. */
  #logged: ReadonlySet<string> = new Set()
  #isAway = false
  #closed: Promise<void> | null = null

  constructor(parts: SheetParts) {
    this.name = parts.name
    this.dialect = parts.dialect
    this.defaultActor = parts.defaultActor
    this.lockTimeoutMs = parts.lockTimeoutMs
    this.events = parts.events
    this.logger = parts.logger
    this.handsRunsOver = parts.handsRunsOver ?? false
    this.#parts = parts
  }

  /** Aborted when the sheet is being closed. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  /**
   * The sheet for operations that only read records. Throws ContractError while the contract is broken, RecordsError
   * while the store cannot be opened.
   */
  async current(): Promise<CurrentSheet> {
    const reading = await this.#read(false)
    if ('fault' in reading) throw reading.fault
    return reading
  }

  /** The sheet for operations that have to do with derived fields: throws for a broken derivation file too. */
  async deriving(): Promise<DerivingSheet> {
    const reading = await this.#read(true)
    if ('fault' in reading) throw reading.fault
    const { contract, store, derivations } = reading
    if (derivations instanceof ContractError) throw derivations
    return { contract, store, derivations }
  }

  /** Returns the time by the clock that times in the store come from, in milliseconds since 1970. Throws as {@link current}. */
  async now(): Promise<number> {
    const { now } = this.#parts
    if (now !== undefined) return now()
    const { store } = await this.current()
    return Date.parse(await store.responses.now())
  }

  /** How the hosts that derivations call are treated, as `transport.yaml` says now. Throws ContractError. */
  policies(): HostPolicies {
    return this.#parts.files.policies()
  }

  /** Sentences on what the operator should look into, though everything works: such as lines set aside from the log. */
  warnings(): readonly string[] {
    return this.#parts.warnings()
  }

  /** The files that say what the sheet is, as they were last looked at. Throws ContractError. */
  definitionFiles(): readonly DefinitionFile[] {
    return this.#parts.files.all()
  }

  /** Reads a derivation file that may be none of the sheet's any more. Throws ContractError. */
  parseDerivation(source: DerivationSource, contract: Contract): Derivation {
    return this.#parts.files.parse(source, contract)
  }

  /** Tells subscribers, of this process or of all servers; waits for nobody and never throws. */
  publish(frame: Frame): void {
    const shared = this.frames
    if (shared === undefined) this.events.publish(frame)
    else shared.publish(SHEET_STREAM, [JSON.stringify(frame)])
  }

  /** The frames that servers share; undefined where they are those of this process. */
  get frames(): SharedFrames | undefined {
    return this.#parts.frames
  }

  /** Keeps the sheet open until a run that has begun has ended. */
  async during<T>(run: Promise<T>): Promise<T> {
    this.#runs.add(run)
    try {
      return await run
    } finally {
      this.#runs.delete(run)
    }
  }

  /**
   * Stops runs under way and keeps new ones from starting; what they have stored stays. Everything else goes on.
   * Resolves when they have ended and subscribers have been told so (D40).
   */
  async stopRuns(reason: ServiceError = new StoppingError()): Promise<void> {
    this.#stopping.abort(reason)
    await Promise.allSettled(this.#runs)
    await this.frames?.settled()
  }

  /** Stops runs, finishes the writes under way and lets go of the store. Later calls wait for the first. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  async #close(): Promise<void> {
    await this.stopRuns()
    this.events.close()
    await this.#refreshing?.catch(() => undefined)
    await this.#store?.close()
    await this.#parts.files.close()
    await this.#parts.closeTransport()
  }

  async #read(withDerivations: boolean): Promise<Reading> {
    for (let tries = 1; ; tries += 1) {
      const reading = await this.#readOnce(withDerivations)
      // Whoever pushes again and again makes others wait, but not for ever.
      if (!isOutdated(reading) || tries === READ_TRIES) return reading
    }
  }

  async #readOnce(withDerivations: boolean): Promise<Reading> {
    const looking = this.#parts.files.look()
    if (looking === undefined) {
      await endOfTurn()
    } else {
      const fault = await faultOf(looking)
      if (fault !== null) return this.#away(fault)
      // Should it happen again, the operator is told again.
      if (this.#isAway) this.#log([])
      this.#isAway = false
    }
    while (this.#refreshing !== null) await this.#refreshing.catch(() => undefined)
    const { files } = this.#parts
    const contractChanged = this.#contractChanged()
    const derivationsChanged = (withDerivations || contractChanged) && files.derivationsChanged()
    const known = this.#reading
    if (known !== null && isSettled(known) && !contractChanged && !derivationsChanged) return known
    this.#reading = null
    this.#refreshing = this.#refresh()
    try {
      return (this.#reading = await this.#refreshing)
    } finally {
      this.#refreshing = null
    }
  }

  /** Looks once for all requests that the end of a turn has woken; they have arrived before that. */
  #contractChanged(): boolean {
    if (this.#hasLooked) return false
    this.#hasLooked = true
    process.nextTick(() => (this.#hasLooked = false))
    return this.#parts.files.contractChanged()
  }

  async #refresh(): Promise<Reading> {
    const faults: ServiceError[] = []
    try {
      const contract = this.#parts.files.contract()
      const derivations = this.#derivations(contract)
      if (derivations instanceof ContractError) faults.push(derivations)
      const targets = derivations instanceof ContractError ? null : targetDefinitions(derivations)
      const { revision } = this.#parts.files
      const store = await this.#define({ contract, targets, ...(revision !== null && { revision }) })
      return { contract, store, derivations }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      if (!(error instanceof OutdatedDefinitionError)) faults.push(error)
      return { fault: error }
    } finally {
      this.#log(faults)
    }
  }

  #derivations(contract: Contract): Derivations | ContractError {
    try {
      return this.#parts.files.derivations(contract)
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      return error
    }
  }

  async #define(definition: StoreDefinition): Promise<SheetStore> {
    if (this.#store === null) {
      this.#store = await this.#parts.openStore(definition)
    } else {
      await this.#store.define(definition)
    }
    return this.#store
  }

  /** The files are where they cannot be looked at, such as in a database that is away; what was known of them is kept. */
  #away(fault: ServiceError): Reading {
    this.#log([fault])
    this.#isAway = true
    return { fault }
  }

  /** Tells the operator of faults, of each once for as long as it stays. */
  #log(faults: readonly ServiceError[]): void {
    for (const { type, message } of faults) {
      if (!this.#logged.has(message)) this.#parts.logger.error({ type }, message)
    }
    this.#logged = new Set(faults.map(({ message }) => message))
  }
}

/** The frames of the sheet among those that servers share. */
export const SHEET_STREAM = 'sheet'

/** How often a definition is read again because another was pushed before the store could follow it. */
const READ_TRIES = 10

function isOutdated(reading: Reading): boolean {
  return 'fault' in reading && reading.fault instanceof OutdatedDefinitionError
}

/** What a promise is rejected with, where that is for callers to be told; null once it is fulfilled. */
async function faultOf(promise: Promise<void>): Promise<ServiceError | null> {
  try {
    await promise
    return null
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}

/** Whether a reading holds until the definition files change. What kept the store from being opened may change alone. */
function isSettled(reading: Reading): boolean {
  if (!('fault' in reading)) return true
  return reading.fault instanceof ContractError && !(reading.fault instanceof SheetFileError)
}
