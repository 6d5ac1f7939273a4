import { existsSync, statSync } from 'node:fs'
import type { Contract } from '../../../contract/contract.ts'
import { parseContract, parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { RecordsError, ServiceError, StoppingError } from '../../../errors/service-error.ts'
import { LogMirror, nameOf } from '../../../provenance/log-mirror.ts'
import type { SetAside } from '../../../provenance/set-aside.ts'
import { CellStates } from '../changes/cell-states.ts'
import { ChangeSet } from '../changes/change-set.ts'
import type { Erasure, EraseRequest } from '../../erasure.ts'
import type { FieldsEffect } from '../../field-changes.ts'
import type { BaseFile, DefinitionEffect } from '../../definition-change.ts'
import { OutdatedDefinitionError } from '../../revision-store.ts'
import { HAS_PENDING, PENDING_FILES, SETTLE_CHANGES } from '../../rows/definition-changes.ts'
import { carryOutChange, OnlyTried, type ChangeParts } from '../../rules/carry-out-change.ts'
import { editedFiles, recordEdit } from '../../rules/record-change.ts'
import { DefinitionMirror } from '../../sheet-files/definition-mirror.ts'
import type { Upsert, UpsertTrial } from '../../sheet-store.ts'
import {
  AUTO_CHECKPOINT_PAGES,
  beginWhenFree,
  isSyncFault,
  sqliteCode,
  type Connection,
  type StoredRow,
} from '../database/connection.ts'
import { sourceDiffers, type ImportedSource } from '../../sheet-files/import-lines.ts'
import { createStore, storePaths, syncFile, type StorePaths } from '../definition/create-store.ts'
import { knowRecordsFile } from '../definition/records-file.ts'
import { applyDefinition, loadTargets } from '../definition/apply-contract.ts'
import { IdleTimer } from '../database/idle-timer.ts'
import { logSource } from '../log/log-source.ts'
import { openDatabase } from '../database/open-database.ts'
import { compact } from '../database/compact.ts'
import { takeRunLock } from '../database/run-lock.ts'
import { tryUpsert } from '../../rules/upsert.ts'
import { readBody } from '../../rules/upsert-body.ts'
import { runSync } from '../../rules/steps.ts'
import { numberFields, type FieldNumbers } from '../../rules/written/number-fields.ts'
import { CHANGES, type Changes } from './changes.ts'
import { takeCheckpoints } from './take-checkpoints.ts'
import { StoreFile } from '../database/store-file.ts'
import type {
  ChangeDefinitionRequest,
  ChangedDefinition,
  DefineRequest,
  OpenRequest,
  OpenResult,
  TakenLines,
  WriterOperation,
  WriterRequest,
} from './writer-protocol.ts'
import { textOrNull } from '../../rows/stored-rows.ts'
import type { NewCheckpoint } from '../../log-tree-store.ts'
import { NOTES, NOTES_SIZE } from '../../rows/log-tree.ts'
import { addCheckpoint } from '../../rules/log/add-checkpoint.ts'
import { erase } from '../../rules/log/erase.ts'
import { NotTakenOver, takeOver } from '../../rules/log/take-over.ts'
import { addToFile, repairFile } from '../../sheet-files/checkpoint-file.ts'
import { collectOnce } from '../../sheet-files/collect-garbage.ts'

/** Milliseconds without a change after which the mirror is synced and its position stored. */
const MIRROR_SYNC_MS = 1000

/**
 * Milliseconds without a change of any process after which the write-ahead log is moved into the database, so that a burst of writes
 * does not wait for that. SQLite does it during a commit only when the log has grown large.
 */
const CHECKPOINT_IDLE_MS = 25

/** Milliseconds without a change after which the pages that SQLite keeps in memory, and garbage, are released. */
const RELEASE_IDLE_MS = 5000

type ChangeOutcome = { readonly value: unknown } | { readonly error: unknown }

interface OpenStore {
  readonly directory: string
  readonly file: StoreFile
  readonly db: Connection
  readonly mirror: LogMirror
  readonly lockTimeoutMs: number
  contract: Contract
  states: CellStates
  /** The numbers of the fields of the contract, once they are stored. */
  numbers: FieldNumbers | null
  /** SQLite's `data_version`, which changes when another connection has committed. */
  dataVersion: number
  /** The same when the write-ahead log was last to be moved. */
  restingVersion: number
}

/** The only writer of a store in this process. */
export class Writer {
  #store: OpenStore | null = null
  #failed = false
  readonly #onSetAside: (lines: SetAside) => void
  readonly #onLines: (count: number) => void
  readonly #onTakenOver: (taken: TakenLines) => void
  /** The reason why the lines after those of the store were not taken over; null where they were. */
  #refusal: string | null = null
  readonly #checkpoint = new IdleTimer(CHECKPOINT_IDLE_MS, () => this.#runCheckpoint())
  readonly #release = new IdleTimer(RELEASE_IDLE_MS, () => {
    this.#store?.db.exec('PRAGMA shrink_memory')
    collectOnce()
  })
  readonly #mirrorSync = new IdleTimer(MIRROR_SYNC_MS, () => {
    this.#syncMirror()
    // Otherwise the file would not identify the store: see StoreFile.
    this.#runCheckpoint()
  })

  /**
   * `onSetAside` is called when lines that the store does not have were moved out of the log, `onLines` after a commit with the
   * number of its lines, `onTakenOver` when lines of another copy of the sheet were taken over.
   */
  constructor(
    onSetAside: (lines: SetAside) => void = () => undefined,
    onLines: (count: number) => void = () => undefined,
    onTakenOver: (taken: TakenLines) => void = () => undefined,
  ) {
    this.#onSetAside = (lines) =>
      onSetAside(this.#refusal === null ? lines : { ...lines, reason: this.#refusal })
    this.#onLines = onLines
    this.#onTakenOver = onTakenOver
  }

  isChange(operation: WriterOperation): operation is keyof Changes {
    return Object.hasOwn(CHANGES, operation)
  }

  /** Carries out an operation that runs alone. */
  async handle(operation: WriterOperation, argument: unknown): Promise<unknown> {
    if (this.isChange(operation)) throw new Error(`${operation} is a change`)
    switch (operation) {
      case 'open':
        return this.#open(argument as OpenRequest)
      case 'define':
        return this.#define(argument as DefineRequest)
      case 'changeDefinition':
        return this.#changeDefinition(argument as ChangeDefinitionRequest)
      case 'tryUpsert':
        return this.#tryUpsert(argument as Upsert)
      case 'addCheckpoint':
        return this.#addCheckpoint(argument as NewCheckpoint)
      case 'erase':
        return this.#erase(argument as EraseRequest)
      case 'close':
        return this.#close()
    }
  }

  /**
   * Carries out a group of changes in one transaction; each happens entirely or not at all. A single one needs no savepoint
   * for that: SQLite would keep a copy of every page that it changes, which slows the next statements down.
   */
  async change(requests: readonly WriterRequest[]): Promise<readonly ChangeOutcome[]> {
    const [first, ...others] = requests
    if (first === undefined) return []
    if (others.length === 0)
      return [{ value: await this.#transaction((change) => this.#carryOut(change, first)) }]
    return this.#transaction((change) =>
      requests.map((request): ChangeOutcome => {
        try {
          return { value: change.atomically(() => this.#carryOut(change, request)) }
        } catch (error) {
          return { error }
        }
      }),
    )
  }

  #carryOut(change: ChangeSet, { operation, argument }: WriterRequest): unknown {
    if (!this.isChange(operation)) throw new Error(`${operation} is no change`)
    const carryOut = CHANGES[operation] as (set: ChangeSet, value: unknown) => unknown
    return carryOut(change, argument)
  }

  /** Returns what an upsert would do; ends the transaction in which it reads. */
  async #tryUpsert(request: Upsert): Promise<UpsertTrial> {
    const { store, change } = await this.#begin()
    try {
      return runSync(tryUpsert(change, readBody(request)))
    } finally {
      this.#rollBack(store)
    }
  }

  /** Stores a checkpoint, in the file too. */
  #addCheckpoint(checkpoint: NewCheckpoint): Promise<boolean> {
    return this.#transaction((change, { directory }) => {
      const before = change.db.query(NOTES_SIZE)
      const isStored = runSync(addCheckpoint(change, checkpoint))
      if (!isStored) return false
      addToFile(storePaths(directory).checkpoints, checkpoint.note, {
        bytes: before,
        before: () => change.db.query(NOTES).slice(0, -1),
      })
      return true
    })
  }

  /** Erases values, and writes the files of the store and the log anew without them. */
  async #erase(request: EraseRequest): Promise<Erasure> {
    const { mirror, directory } = this.#writable()
    if (request.dryRun) {
      const { store, change } = await this.#begin()
      try {
        return { ...runSync(erase(change, request)), isCompacted: false }
      } finally {
        this.#rollBack(store)
      }
    }
    let isRewritten = false
    try {
      const erasure = await this.#transaction((change) => {
        const erased = runSync(erase(change, request))
        change.finish()
        if (erased.lines > 0) {
          // The place of the line up to which the file was verified is another one now.
          change.db.run('UPDATE "$sheet" SET mirror_offset = 0')
          isRewritten = true
          mirror.distrust()
          mirror.repair()
        }
        return erased
      })
      return { ...erasure, isCompacted: await compact(storePaths(directory).database) }
    } catch (error) {
      if (isRewritten) mirror.distrust()
      throw error
    }
  }

  /** Runs `work` in a transaction; its lines of the log are appended to the file before the lock is released. */
  async #transaction<T>(
    work: (change: ChangeSet, store: OpenStore) => T,
    { takesOver = true } = {},
  ): Promise<T> {
    if (takesOver) await this.#takeLinesOver()
    const { store, change } = await this.#begin()
    const { position } = store.mirror
    try {
      const result = work(change, store)
      change.finish()
      if (change.lineCount > 0) store.mirror.append(change.lines(), change.lastSeq)
      // A change of fields may have written all records: its checkpoint must not delay the response.
      if (change.changesFields) commitWithoutCheckpoint(store.db)
      else store.db.run('COMMIT')
      if (change.lineCount > 0) this.#tidyLater()
      this.#onLines(change.lineCount)
      return result
    } catch (error) {
      try {
        // While the lock is held, since then no other process appends.
        if (store.mirror.position !== position) store.mirror.rewind(position, store.db.db.isTransaction)
      } finally {
        this.#undo(store, error)
      }
      throw error
    }
  }

  /**
   * Takes over the lines of another copy of the sheet that follow those of the store in the file, as after a merge in git: all of
   * them, or none, which are set aside then.
   */
  async #takeLinesOver(): Promise<void> {
    if (!this.#writable().mirror.isReplaced) return
    const { store, change } = await this.#begin()
    try {
      const texts = store.mirror.continuation()
      const taken = texts === null ? null : runSync(takeOver(change, texts))
      change.finish()
      const { checkpoints } = storePaths(store.directory)
      const left = taken === null ? 0 : takeCheckpoints(change, logSource(store.db), checkpoints)
      store.db.run('COMMIT')
      this.#refusal = null
      if (taken !== null) this.#onTakenOver({ ...taken, leftCheckpoints: left })
    } catch (error) {
      this.#undo(store, error)
      if (!(error instanceof NotTakenOver)) throw error
      this.#refusal = error.message
    }
  }

  /** Makes the files of the log and of checkpoints those of the store, which knows the log by its name from then on. */
  #repair(): Promise<void> {
    return this.#transaction(({ db }, { mirror, directory }) => {
      mirror.repair()
      const { checkpoints } = storePaths(directory)
      repairFile(checkpoints, { bytes: db.query(NOTES_SIZE), notes: () => db.query(NOTES) })
      db.run('UPDATE "$sheet" SET mirror_file = ?1 WHERE mirror_file IS NOT ?1', namesOf(directory, mirror))
    })
  }

  async #begin(): Promise<{ readonly store: OpenStore; readonly change: ChangeSet }> {
    const store = this.#writable()
    await beginWhenFree(store.db, 'IMMEDIATE', {
      deadline: performance.now() + store.lockTimeoutMs,
      what: 'the store',
      isBrief: true,
    })
    try {
      this.#refreshStates(store)
      const { db, contract, states } = store
      return { store, change: new ChangeSet({ db, contract, states, numbers: numbersOf(store) }) }
    } catch (error) {
      this.#undo(store, error)
      throw error
    }
  }

  /** Rolls a transaction back. A failed sync is final: the content of the disk is known only after a restart. */
  #undo(store: OpenStore, error: unknown): void {
    if (isSyncFault(error)) this.#failed = true
    this.#rollBack(store)
  }

  #rollBack(store: OpenStore): void {
    if (store.db.db.isTransaction) store.db.exec('ROLLBACK')
    store.states.recount()
  }

  #writable(): OpenStore {
    if (this.#failed) {
      throw new RecordsError(
        'syncing to the disk failed, and writing has stopped; check the disk and restart',
      )
    }
    const store = this.#store
    if (store === null) throw new StoppingError('the store is closed')
    store.file.check()
    return store
  }

  #refreshStates(store: OpenStore): void {
    const version = dataVersion(store.db)
    if (version === store.dataVersion) return
    store.states = new CellStates(store.db, loadTargets(store.db))
    store.numbers = null
    // Another process may have renamed fields: writes must fit the present contract.
    const text = String(store.db.get('SELECT contract FROM "$sheet"')?.['contract'])
    if (text !== store.contract.text) store.contract = parseStoredContract(text)
    store.dataVersion = version
  }

  async #open(request: OpenRequest): Promise<OpenResult> {
    const paths = storePaths(request.directory)
    const { define } = request
    const given = define === null ? null : parseContract(define.contractText)
    if (!existsSync(paths.database)) {
      if (given === null) throw new RecordsError('the sheet has no store yet')
      await this.#create(paths, given, request)
    }
    // Even opening takes locks, where another process opens or closes the store at the same time.
    const deadline = performance.now() + request.lockTimeoutMs
    // Before opening, which creates the files that it checks.
    const wasClosed = wasStoreClosed(paths)
    const { db, sheet } = await openDatabase(paths.database, { deadline, what: 'the store' })
    // By its write-ahead log the next process recognizes that this one was interrupted.
    syncFile(request.directory)
    const mirror = new LogMirror(paths.log, logSource(db), {
      verified: { seq: Number(sheet['mirror_seq']), offset: Number(sheet['mirror_offset']) },
      onSetAside: this.#onSetAside,
      wasClosed,
      knownFile: knownLog(paths, textOrNull(sheet['mirror_file'])),
    })
    const states = new CellStates(db, loadTargets(db))
    const contract = given ?? parseStoredContract(String(sheet['contract']))
    const { lockTimeoutMs } = request
    const version = dataVersion(db)
    this.#store = {
      directory: request.directory,
      file: new StoreFile(paths.database),
      db,
      mirror,
      lockTimeoutMs,
      contract,
      states,
      numbers: null,
      dataVersion: version,
      restingVersion: version,
    }
    try {
      // Lines of another copy of the sheet can have fields that its contract has added.
      if (define !== null) await this.#define(define, { opens: true })
      else await this.#settle()
      await this.#takeLinesOver()
      // Without a valid contract, they wait for one.
      if (define !== null || this.#refusal === null) await this.#repair()
    } catch (error) {
      this.#close()
      throw error
    }
    return {
      cursorKey: sheet['cursor_key'] as Uint8Array,
      sourceDiffers: this.#sourceDiffers(paths.source),
      contractText: contract.text,
    }
  }

  /** Whether there is a `records.jsonl` that neither was imported nor has the records of the store, as an export has. */
  #sourceDiffers(path: string): boolean {
    const { db, contract } = this.#writable()
    const sheet = db.get('SELECT source_size, source_mtime, source_sha256 FROM "$sheet"') ?? {}
    if (!sourceDiffers(path, importedSource(sheet))) return false
    try {
      return knowRecordsFile(db, path, contract) !== null
    } catch (error) {
      // The file cannot be read as records, or another process writes: it is compared again at the next start.
      if (error instanceof RecordsError || sqliteCode(error) !== undefined) return true
      throw error
    }
  }

  async #create(paths: StorePaths, contract: Contract, request: OpenRequest): Promise<void> {
    const lock = await takeRunLock(paths.lock, request.lockTimeoutMs)
    try {
      if (existsSync(paths.database)) return
      createStore(paths, { contract, targets: request.define?.targets ?? [], actor: request.actor })
    } finally {
      lock.release()
    }
  }

  async #define(request: DefineRequest, { opens = false } = {}): Promise<FieldsEffect> {
    const contract = parseContract(request.contractText)
    if (request.dryRun === true) return this.#tryDefinition(contract, request)
    await this.#settle()
    const { store, effect } = await this.#transaction(
      (change, open) => {
        checkBase(open, request.base)
        const edits = runSync(editedFiles(change.db, { contract, targets: request.targets }))
        const applied = applyDefinition(change, contract, request)
        runSync(recordEdit(change.db, edits, { actor: null, note: null, at: new Date().toISOString() }))
        return { store: open, effect: applied }
      },
      { takesOver: !opens },
    )
    this.#follow(store, contract)
    return effect
  }

  /** Not before the commit: a definition that could not be stored has no effect. */
  #follow(store: OpenStore, contract: Contract): void {
    store.contract = contract
    store.states = new CellStates(store.db, loadTargets(store.db))
    store.numbers = null
  }

  /** Applies a definition, returns its effect, and rolls it back. */
  async #tryDefinition(contract: Contract, request: DefineRequest): Promise<FieldsEffect> {
    const { store, change } = await this.#begin()
    try {
      return applyDefinition(change, contract, request)
    } finally {
      this.#rollBack(store)
    }
  }

  async #changeDefinition({ define, ...request }: ChangeDefinitionRequest): Promise<ChangedDefinition> {
    const contract = parseContract(define.contractText)
    const { files, base } = request
    await this.#settle()
    const mirror = new DefinitionMirror(this.#writable().directory)
    let effect: DefinitionEffect
    try {
      effect = await this.#transaction((set, open) => {
        checkBase(open, base)
        // A dry run too is refused where the change would be.
        mirror.check(files)
        const parts: ChangeParts = {
          tryFields: () => applyDefinition(set, contract, { ...define, dryRun: true }),
          apply: () => applyDefinition(set, contract, define),
          now: () => new Date().toISOString(),
          // A full disk, or a directory that cannot be written, undoes the change.
          keepFiles: () => mirror.prepare(files),
          pending: true,
        }
        return runSync(carryOutChange(set.db, request, parts))
      })
    } catch (error) {
      if (error instanceof OnlyTried) return { effect: error.effect, edited: [] }
      mirror.discard(files)
      throw error
    }
    this.#follow(this.#writable(), contract)
    try {
      return { effect, edited: await this.#settlePending() }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      throw new RecordsError(
        `the change is stored, but ${error.message}; its files are written once that is possible`,
        'unknown_outcome',
      )
    }
  }

  /** Writes the files of a change that another process has left or is about to write. Throws OutdatedDefinitionError then. */
  async #settle(): Promise<void> {
    if (!this.#writable().db.query(HAS_PENDING)) return
    await this.#settlePending()
    throw new OutdatedDefinitionError('the definition of the sheet was changed meanwhile; try again')
  }

  /** Writes the files of pending changes under the lock of the store; returns those that were edited meanwhile. */
  #settlePending(): Promise<readonly string[]> {
    return this.#transaction(({ db }, { directory }) => {
      const edited = new DefinitionMirror(directory).settle(db.query(PENDING_FILES))
      db.change(SETTLE_CHANGES)
      return edited
    })
  }

  #tidyLater(): void {
    this.#checkpoint.restart()
    this.#release.restart()
    this.#mirrorSync.start()
  }

  /** Moves the write-ahead log into the database; later, where another process has written since this was last tried. */
  #runCheckpoint(): void {
    const store = this.#store
    if (store === null || this.#failed) return
    try {
      const version = dataVersion(store.db)
      if (version === store.restingVersion) {
        store.db.get('PRAGMA wal_checkpoint(PASSIVE)')
      } else {
        store.restingVersion = version
        this.#checkpoint.restart()
      }
    } catch (error) {
      if (isSyncFault(error)) this.#failed = true
    }
  }

  /** Syncs the log file and stores its position, so that the next open need not compare all of it. */
  #syncMirror(): void {
    const store = this.#store
    if (store === null || this.#failed) return
    const { mirror } = store
    const { seq, offset } = mirror.position
    try {
      mirror.sync()
      store.db.run(
        'UPDATE "$sheet" SET mirror_seq = ?1, mirror_offset = ?2, mirror_file = ?3 WHERE mirror_seq < ?1',
        seq,
        offset,
        namesOf(store.directory, mirror),
      )
    } catch (error) {
      if (isSyncFault(error)) this.#failed = true
      // Another process is writing, or the disk is full: the next open just compares more.
    }
  }

  /**
   * Removes lines of a transaction that could not be committed from the log. A process that finds them after this one has closed the
   * store would take them for those of another store.
   */
  #repairMirror(): void {
    const store = this.#store
    try {
      // What another program has put in its place is for the next open, which may have another contract.
      if (store === null || store.mirror.isAsLeft || store.mirror.isReplaced) return
      store.db.exec('BEGIN IMMEDIATE')
      store.mirror.repair()
    } catch {
      // Another process is writing, which repairs the file, or the disk still fails.
    } finally {
      if (store?.db.db.isTransaction === true) store.db.exec('ROLLBACK')
    }
  }

  #close(): void {
    this.#checkpoint.cancel()
    this.#release.cancel()
    this.#mirrorSync.cancel()
    this.#repairMirror()
    this.#syncMirror()
    this.#store?.mirror.close()
    this.#store?.db.close()
    this.#store = null
    // Until the next open.
    this.#failed = false
  }
}

function commitWithoutCheckpoint(db: Connection): void {
  db.exec('PRAGMA wal_autocheckpoint=0')
  try {
    db.run('COMMIT')
  } finally {
    db.exec(`PRAGMA wal_autocheckpoint=${AUTO_CHECKPOINT_PAGES}`)
  }
}

/** Returns the numbers of the fields of the contract. New ones are read again after their transaction. */
function numbersOf(store: OpenStore): FieldNumbers {
  if (store.numbers !== null) return store.numbers
  const { numbers, isChanged } = runSync(numberFields(store.db, store.contract.fields))
  if (!isChanged) store.numbers = numbers
  return numbers
}

/** Throws OutdatedDefinitionError when the files differ from those that a definition was read from. */
function checkBase({ directory, db }: OpenStore, base: readonly BaseFile[] | undefined): void {
  const different = base === undefined ? null : new DefinitionMirror(directory).firstDifference(base)
  if (different === null && !db.query(HAS_PENDING)) return
  throw new OutdatedDefinitionError(`${different ?? 'the definition'} was changed meanwhile; try again`)
}

function dataVersion(db: Connection): number {
  return Number(db.get('PRAGMA data_version')?.['data_version'])
}

function importedSource(sheet: StoredRow): ImportedSource {
  const number = (column: string): number | null => (sheet[column] === null ? null : Number(sheet[column]))
  return {
    size: number('source_size'),
    mtime: number('source_mtime'),
    sha256: textOrNull(sheet['source_sha256']),
  }
}

/**
 * Whether the last process that had a store open closed it, rather than being killed: SQLite then removes the write-ahead
 * log. Call it before the store is opened. An empty log that is younger than the last line of the provenance log was
 * created by a process that only read, such as `colophon validate`.
 */
function wasStoreClosed({ database, log }: StorePaths): boolean {
  const ahead = statSync(`${database}-wal`, { throwIfNoEntry: false })
  if (ahead === undefined) return true
  const lines = statSync(log, { throwIfNoEntry: false })
  return ahead.size === 0 && lines !== undefined && ahead.mtimeMs > lines.mtimeMs
}

/** Returns the names of the database and of the log of a directory, as the store keeps them. */
function namesOf(directory: string, { file }: LogMirror): string {
  return `${nameOf(statSync(storePaths(directory).database))}/${file}`
}

/**
 * Returns the name of the log by the names that the store keeps. Null where the database is another file as well: the
 * directory was copied, and the log in it may end with lines of an interrupted transaction.
 */
function knownLog({ database }: StorePaths, names: string | null): string | null {
  const [ofDatabase, ofLog = null] = names?.split('/') ?? []
  return ofDatabase === nameOf(statSync(database)) ? ofLog : null
}
