import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Contract } from '../../../contract/contract.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { ServiceError, StoppingError } from '../../../errors/service-error.ts'
import { OutdatedDefinitionError } from '../../revision-store.ts'
import type { FieldsEffect } from '../../field-changes.ts'
import type { StoreDefinition } from '../../sheet-store.ts'
import type { StoredTarget } from '../../rows/stored-targets.ts'
import type { ClientConnection, StoredRow } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { applyDefinition } from '../definition/apply-definition.ts'
import { prepareColumns } from '../definition/prepare-columns.ts'
import { OperationGroup, type Operation, type OperationRequest, type Outcome } from './operation-group.ts'
import { PlanKeeper } from '../database/table-statistics.ts'
import { newestRevision } from '../definition/revisions.ts'
import { loadTargets } from '../definition/targets.ts'

/** The most operations that share a commit, so that the first of many does not wait long for the last. */
const GROUP_LIMIT = 256

/** The most records of these operations, since all of them are in memory together. */
const GROUP_RECORDS = 10_000

interface FollowedDefinition {
  /** Increases with each change. */
  readonly definition: number
  readonly contract: Contract
  readonly targets: readonly StoredTarget[]
}

interface Waiting {
  /** An operation that shares a transaction with others, or a definition that the store is to follow from here on. */
  readonly work: OperationRequest | StoreDefinition
  resolve(value: unknown): void
  reject(error: unknown): void
}

/**
 * The only writer of a store in this process. Every transaction first locks the row of `$sheet`, so that writes of all
 * processes are serialized, and provenance is numbered in the order of commits. Operations that wait at the same time share
 * a transaction.
 */
export class Writer {
  readonly #database: Database
  readonly #lockTimeoutMs: number
  #followed: FollowedDefinition | null = null
  readonly #queue: Waiting[] = []
  readonly #plan: PlanKeeper
  #working: Promise<void> | null = null
  #closed = false

  constructor(database: Database, { lockTimeoutMs }: { lockTimeoutMs: number }) {
    this.#database = database
    this.#lockTimeoutMs = lockTimeoutMs
    this.#plan = new PlanKeeper(database)
  }

  /** Carries out an operation; settles once it is durable, or has changed nothing. */
  change<T>(operation: Operation<T>): Promise<T> {
    return this.#enqueue({ operation, ids: null }) as Promise<T>
  }

  /**
   * Carries out an operation that changes only its change set: many of these share a transaction. `ids` are those of its
   * records, which are loaded for it with their cells.
   */
  changeRecords<T>(ids: readonly string[], operation: Operation<T>): Promise<T> {
    return this.#enqueue({ operation, ids }) as Promise<T>
  }

  /**
   * Makes the store follow a contract and its derived fields (D9). Throws ContractError, and changes nothing, where stored
   * records would be lost or violate the contract.
   */
  async define(definition: StoreDefinition): Promise<FieldsEffect> {
    return (await this.#enqueue(definition)) as FieldsEffect
  }

  #enqueue(work: Waiting['work']): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new StoppingError('the store is closed')
      this.#queue.push({ work, resolve, reject })
      this.#working ??= this.#work()
    })
  }

  async #define(definition: StoreDefinition): Promise<FieldsEffect> {
    const { schema } = this.#database.location
    const lockTimeoutMs = this.#lockTimeoutMs
    await prepareColumns(this.#database, definition, lockTimeoutMs)
    return this.#database.writingSheet(lockTimeoutMs, async (db) => {
      await checkRevision(db, definition)
      const { effect, last } = await applyDefinition(db, definition, { schema, lockTimeoutMs })
      return { value: effect, last }
    })
  }

  /** Finishes queued operations and accepts no more. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#working
    await this.#plan.close()
  }

  async #work(): Promise<void> {
    // Operations of the same turn of the event loop join the group.
    await nextTurn()
    while (this.#queue.length > 0) await this.#settle(this.#takeGroup())
    this.#working = null
  }

  /** Returns operations up to the next definition, as many as may share a commit; or that definition. */
  #takeGroup(): Waiting[] {
    let records = 0
    const end = this.#queue.findIndex(({ work }, index) => {
      if (!('operation' in work) || index >= GROUP_LIMIT) return true
      records += work.ids?.length ?? 0
      return records > GROUP_RECORDS
    })
    return this.#queue.splice(0, end === -1 ? this.#queue.length : Math.max(1, end))
  }

  async #settle(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#carryOut(group)
      group.forEach(({ resolve, reject }, index) => {
        const outcome = outcomes[index] as Outcome
        if ('error' in outcome) reject(outcome.error)
        else resolve(outcome.value)
      })
    } catch (error) {
      // An error of PostgreSQL about one of them must not fail the others.
      if (group.length > 1 && !(error instanceof ServiceError)) {
        for (const waiting of group) await this.#settle([waiting])
      } else {
        for (const { reject } of group) reject(error)
      }
    }
  }

  async #carryOut(group: readonly Waiting[]): Promise<readonly Outcome[]> {
    const requests = group.map(({ work }) => work).filter((work) => 'operation' in work)
    if (requests.length > 0) return this.#change(requests)
    const outcomes: Outcome[] = []
    for (const { work } of group) outcomes.push({ value: await this.#define(work as StoreDefinition) })
    return outcomes
  }

  async #change(requests: readonly OperationRequest[]): Promise<readonly Outcome[]> {
    const { outcomes, group: done } = await this.#database.writingSheet(
      this.#lockTimeoutMs,
      async (db, sheet) => {
        const { contract, targets } = await this.#follow(db, sheet)
        const group = new OperationGroup({ db, contract, targets, sheet, alone: requests.length === 1 })
        const value = await group.carryOut(requests)
        return { value: { outcomes: value, group }, last: group.countStatements() }
      },
    )
    this.#plan.grown(done.lineCount, done.recordCount)
    return outcomes
  }

  /**
   * Returns the definition that the store follows, whichever process has set it: writes must fit the present one, which
   * this process may not know yet. Read again when a process has changed it.
   */
  async #follow(db: ClientConnection, sheet: StoredRow): Promise<FollowedDefinition> {
    const definition = Number(sheet['definition'])
    if (this.#followed?.definition !== definition) {
      const contract = parseStoredContract(
        String((await db.get('SELECT contract FROM "$sheet"'))?.['contract']),
      )
      this.#followed = { definition, contract, targets: await loadTargets(db) }
    }
    return this.#followed
  }
}

/** Throws OutdatedDefinitionError for the definition of a revision that is no longer in force. */
async function checkRevision(db: ClientConnection, { revision }: StoreDefinition): Promise<void> {
  if (revision === undefined || (await newestRevision(db)) === revision) return
  throw new OutdatedDefinitionError('another revision of the sheet was pushed meanwhile; try again')
}
