import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Contract } from '../../../contract/contract.ts'
import { parseStoredContract } from '../../../contract/odcs/parse-contract.ts'
import { ServiceError, StoppingError } from '../../../errors/service-error.ts'
import type { DefinitionEffect } from '../../definition-change.ts'
import type { FieldsEffect } from '../../field-changes.ts'
import type { DefinitionChange, StoreDefinition } from '../../sheet-store.ts'
import { FIELD_CHANGES, keptColumns, type KeptColumn } from '../../fields/stored-changes.ts'
import type { StoredTarget } from '../../rows/stored-targets.ts'
import type { ClientConnection, StoredRow } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import type { ApplyOptions } from '../definition/apply-definition.ts'
import { changeDefinition, define } from '../definition/change-definition.ts'
import { prepareColumns } from '../definition/prepare-columns.ts'
import { OperationGroup, type Operation, type OperationRequest, type Outcome } from './operation-group.ts'
import { PlanKeeper } from '../database/table-statistics.ts'
import { loadTargets } from '../definition/targets.ts'
import { runAsync } from '../../rules/steps.ts'
import { numberFields, type FieldNumbers } from '../../rules/written/number-fields.ts'

/** The most operations that share a commit, so that the first of many does not wait long for the last. */
const GROUP_LIMIT = 256

/** The most records of these operations, since all of them are in memory together. */
const GROUP_RECORDS = 10_000

interface FollowedDefinition {
  /** Increases with each change. */
  readonly definition: number
  readonly contract: Contract
  readonly numbers: FieldNumbers
  readonly targets: readonly StoredTarget[]
  readonly kept: readonly KeptColumn[]
}

/** Changes the definition in a transaction of its own; the result has statements that are carried out last. */
interface DefinitionRequest {
  readonly definition: StoreDefinition
  /** Whether nothing may be changed. */
  readonly dryRun: boolean
  define(db: ClientConnection): Promise<{ readonly value: unknown; readonly last: readonly string[] }>
}

interface Waiting {
  /** An operation that shares a transaction with others, or a definition that the store is to follow from here on. */
  readonly work: OperationRequest | DefinitionRequest
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
  readonly #onLines: (count: number) => void
  #working: Promise<void> | null = null
  #closed = false

  /** `onLines` is called after a commit with the number of its lines of the log. */
  constructor(
    database: Database,
    {
      lockTimeoutMs,
      onLines = () => undefined,
    }: { lockTimeoutMs: number; onLines?: (count: number) => void },
  ) {
    this.#onLines = onLines
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
    const options = this.#applyOptions()
    const request = {
      definition,
      dryRun: false,
      define: (db: ClientConnection) => define(db, definition, options),
    }
    return (await this.#enqueue(request)) as FieldsEffect
  }

  /** Makes the store follow a changed definition; see {@link SheetStore.changeDefinition}. */
  async changeDefinition(change: DefinitionChange): Promise<DefinitionEffect> {
    const options = this.#applyOptions()
    const { definition, dryRun } = change
    const request = {
      definition,
      dryRun,
      define: (db: ClientConnection) => changeDefinition(db, change, options),
    }
    return (await this.#enqueue(request)) as DefinitionEffect
  }

  #applyOptions(): ApplyOptions {
    return { schema: this.#database.location.schema, lockTimeoutMs: this.#lockTimeoutMs }
  }

  #enqueue(work: Waiting['work']): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new StoppingError('the store is closed')
      this.#queue.push({ work, resolve, reject })
      this.#working ??= this.#work()
    })
  }

  async #define({ definition, dryRun, define: carryOut }: DefinitionRequest): Promise<Outcome> {
    if (!dryRun) await prepareColumns(this.#database, definition, this.#lockTimeoutMs)
    return { value: await this.#database.writingSheet(this.#lockTimeoutMs, carryOut) }
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
    for (const { work } of group) outcomes.push(await this.#define(work as DefinitionRequest))
    return outcomes
  }

  async #change(requests: readonly OperationRequest[]): Promise<readonly Outcome[]> {
    const { outcomes, group: done } = await this.#database.writingSheet(
      this.#lockTimeoutMs,
      async (db, sheet) => {
        const { definition: _, ...followed } = await this.#follow(db, sheet)
        const group = new OperationGroup({ ...followed, db, sheet, alone: requests.length === 1 })
        const value = await group.carryOut(requests)
        return { value: { outcomes: value, group }, last: group.countStatements() }
      },
    )
    this.#plan.grown(done.lineCount, done.recordCount)
    this.#onLines(done.lineCount)
    return outcomes
  }

  /**
   * Returns the definition that the store follows, whichever process has set it: writes must fit the present one, which
   * this process may not know yet. Read again when a process has changed it.
   */
  async #follow(db: ClientConnection, sheet: StoredRow): Promise<FollowedDefinition> {
    const definition = Number(sheet['definition'])
    if (this.#followed?.definition === definition) return this.#followed
    const contract = parseStoredContract(
      String((await db.get('SELECT contract FROM "$sheet"'))?.['contract']),
    )
    const kept = keptColumns(await db.query(FIELD_CHANGES))
    const { numbers, isChanged } = await runAsync(numberFields(db, contract.fields))
    const followed = { definition, contract, numbers, kept, targets: await loadTargets(db) }
    // New numbers are read again after their transaction, which may be rolled back.
    this.#followed = isChanged ? null : followed
    return followed
  }
}
