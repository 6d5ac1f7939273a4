import { setImmediate as nextTurn } from 'node:timers/promises'
import { jsonEqual, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { rawMembersInTurns } from '../../contract/json/raw-json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import type { Derivation, InputValues } from '../../derivation/definition/derivation-kind.ts'
import { evidenceOf } from '../../derivation/definition/evidence.ts'
import { hashesOfValues } from '../../derivation/hash/hash-of-values.ts'
import { withRecords } from '../../derivation/plan/with-records.ts'
import { retryTime } from '../../derivation/plan/planner.ts'
import { ContractError, SheetError } from '../../errors/service-error.ts'
import { blockOf, type Block, type InputFacts, type Needs } from '../../errors/block.ts'
import { shownState, type ShownCellState } from '../../store/cell-state.ts'
import type { WorkCell, WorkItem } from '../../store/cell-work.ts'
import { RecordsPass } from '../../derivation/plan/records-pass.ts'
import type { CellFailureNote } from '../../store/sheet-store.ts'
import { hashedBy, reasonsBetween, type Past, type Reason } from './cell-reasons.ts'
import { selectTargets } from '../select-targets.ts'
import type { DerivingSheet, Sheet } from '../sheet.ts'

/** The reasons for the state of a cell. */
export interface CellExplanation {
  /** `blocked` for a pending cell that a run cannot compute because of an input (D32), else the stored state. */
  readonly state: ShownCellState
  /**
   * Changes since the cell was last computed. Empty for a fresh, overridden or never computed cell, and when the
   * changes were undone.
   */
  readonly reasons: readonly Reason[]
  /** The input because of which a blocked cell cannot be computed, and the reason (D22, D32); null for any other cell. */
  readonly blockedBy: string | null
  readonly blockedReason: Block['reason'] | null
  /** Derived fields to compute before this cell can be, each after its own inputs. */
  readonly waitsFor: readonly string[]
  /** The failure of a cell whose last computation failed. */
  readonly failure: ExplainedFailure | null
  /** The latest provenance entry, which explains the value of the cell (D34); null when there is none. */
  readonly entry: JsonObject | null
}

/** The failure of a cell, and when runs retry it. */
export interface ExplainedFailure extends Omit<CellFailureNote, 'inputHash'> {
  /** Null for never; absent when the next run retries it. */
  readonly retryAt?: string | null
}

/** Versions of a derivation file parsed before the event loop may handle other requests. */
const VERSIONS_AT_ONCE = 8

/** Bytes from which on an input is not compared: a list of as many takes 25 ms to plan with and to hash. */
const LONG_INPUT_BYTES = 128 << 10

/** Attempts to explain a cell that is written meanwhile. */
const TRIES = 3

/**
 * Explains the state of one cell (D32). Throws OperationError for a field that no derivation computes, SheetError when
 * there is no such record.
 */
export async function explainCell(sheet: Sheet, target: string, recordId: string): Promise<CellExplanation> {
  const current = await sheet.deriving()
  selectTargets(current.derivations, [target])
  const derivation = current.derivations.byTarget.get(target)
  if (derivation === undefined) throw new Error(`no derivation of ${target}`)
  const explainer = new CellExplainer(sheet, { ...current, derivation, target })
  let item = await explainer.read(recordId)
  for (let left = TRIES - 1; ; left -= 1) {
    const explanation = await explainer.explain(item)
    const after = await explainer.read(recordId)
    // All parts of an explanation must describe the same state of the cell.
    if (left === 0 || jsonEqual(item, after)) return explanation
    item = after
  }
}

/** Says that earlier inputs are too long to be compared. */
const LONG: unique symbol = Symbol('long')

interface Explained extends DerivingSheet {
  readonly target: string
  readonly derivation: Derivation
}

class CellExplainer {
  readonly #sheet: Sheet
  readonly #of: Explained

  constructor(sheet: Sheet, of: Explained) {
    this.#sheet = sheet
    this.#of = of
  }

  /**
   * Reads the record with the inputs and the cell, as a run would read it. Throws SheetError when it does not exist.
   */
  async read(id: string): Promise<WorkItem> {
    const { store, target, derivation } = this.#of
    const key = (await store.recordKeys([id])).get(id)
    const [item] =
      key === undefined
        ? []
        : await store.work({
            targets: [target],
            inputs: derivation.inputs,
            force: true,
            state: null,
            after: null,
            limit: 1,
            only: [key],
            inputLimit: { text: LONG_INPUT_BYTES, json: LONG_INPUT_BYTES },
          })
    if (item === undefined) throw new SheetError(`no record ${showValue(id)}`, 'unknown_record')
    return item
  }

  async explain(item: WorkItem): Promise<CellExplanation> {
    const { store, target, derivation } = this.#of
    const { key, inputs } = item
    const cell = item.cells.find((candidate) => candidate.target === target)
    if (cell === undefined) throw new Error(`the store has no cell of ${target}`)
    const provenance = await store.provenance(item.id, target, 1)
    const block = cell.blocked ? blockOf(needsOf(derivation), factsOf(item)) : null
    let run: Promise<Derivation> | null = null
    const asRun = (): Promise<Derivation> => (run ??= this.#asRun(inputs))
    const explanation = {
      state: shownState(cell),
      failure:
        cell.state === 'failed'
          ? await this.#failureOf(await store.cellFailure(key, target), item, asRun)
          : null,
      entry: provenance?.entries[0] ?? null,
      blockedBy: block?.field ?? null,
      blockedReason: block?.reason ?? null,
    }
    if (cell.state === 'fresh' || cell.state === 'overridden')
      return { ...explanation, reasons: [], waitsFor: [] }
    const past = item.tooLong !== undefined ? null : await this.#past(item.id, cell)
    return {
      ...explanation,
      reasons: past === null ? [] : await this.#reasons(past, inputs, asRun),
      waitsFor: cell.blocked ? [] : [...new Set(await this.#waitsFor(item))],
    }
  }

  /** Returns the derivation as a run of this record would use it: a query has its result. */
  #asRun(inputs: InputValues): Promise<Derivation> {
    const { store, derivation } = this.#of
    const context = { queries: store.queries, pass: new RecordsPass(), signal: this.#sheet.stopping }
    return withRecords(derivation, [inputs], context)
  }

  /**
   * Plans the call only when there is an earlier computation to compare it with, since planning takes time with long
   * inputs.
   */
  async #reasons(
    past: Past,
    inputs: InputValues,
    asRun: () => Promise<Derivation>,
  ): Promise<CellExplanation['reasons']> {
    const derivation = await asRun()
    return reasonsBetween(past, { derivation, inputs, hashed: hashedBy(derivation, inputs) })
  }

  async #failureOf(
    note: CellFailureNote | null,
    { inputs, tooLong }: WorkItem,
    asRun: () => Promise<Derivation>,
  ): Promise<ExplainedFailure | null> {
    if (note === null) return null
    const { inputHash: failed, ...failure } = note
    const time = failed === undefined ? null : retryTime(this.#of.derivation, note)
    if (time === null || time <= (await this.#sheet.now())) return failure
    const isOfInputs = tooLong !== undefined || hashesOfValues(await asRun(), inputs)?.whole === failed
    return isOfInputs
      ? { ...failure, retryAt: time === Infinity ? null : new Date(time).toISOString() }
      : failure
  }

  /** Returns the inputs that have no value yet and can be computed, each after its own such inputs. */
  async #waitsFor({ id, inputs, pending }: WorkItem): Promise<string[]> {
    const waits = Object.entries(pending).filter(
      ([input, state]) => state === 'missing' || (state === 'stale' && inputs[input] === null),
    )
    const found: string[] = []
    for (const [input] of waits) {
      const derivation = this.#of.derivations.byTarget.get(input)
      if (derivation === undefined) continue
      const source = new CellExplainer(this.#sheet, { ...this.#of, derivation, target: input })
      found.push(...(await source.#waitsFor(await source.read(id))), input)
    }
    return found
  }

  /** Reads the last computation of a cell; null when there was none, or its inputs are too long to be compared. */
  async #past(id: string, cell: WorkCell): Promise<Past | null> {
    const { inputHash: hash } = cell
    if (hash === null) return null
    // A revert restores the hash of an earlier computation: the inputs are those of the computation, not of the revert.
    const entry = await this.#of.store.computation(id, this.#of.target, hash)
    const candidates = await this.#candidates(entry)
    const values = await this.#valuesAfter(id, entry, candidates)
    if (values === LONG) return null
    return { inputHash: hash, values, candidates, evidence: entry === null ? {} : evidenceOf(entry) }
  }

  /**
   * Returns the inputs right after an entry, {@link LONG} where they are not compared. They were the same when the call of that
   * entry was planned, since a result is not stored when an input has changed meanwhile (D28).
   */
  async #valuesAfter(
    id: string,
    entry: JsonObject | null,
    candidates: readonly Derivation[],
  ): Promise<InputValues | typeof LONG | null> {
    const { contract, store } = this.#of
    const seq = Number(entry?.['seq'] ?? 0)
    if (seq === 0 || seq < (await store.history()).first) return null
    const inputs = new Set(candidates.flatMap((candidate) => candidate.inputs))
    const fields = contract.fields.map(({ name }) => name).filter((name) => inputs.has(name))
    const record = await store.recordAsOf(id, fields, seq)
    if (record === null) return null
    const values: Record<string, JsonValue> = Object.create(null) as Record<string, JsonValue>
    for (const [name, json] of await rawMembersInTurns(record)) {
      if (json.length >= LONG_INPUT_BYTES) return LONG
      values[name] = JSON.parse(json.toString()) as JsonValue
    }
    return values
  }

  /**
   * Returns the versions of the derivation file that an entry may have used, without those that the present contract
   * does not allow.
   */
  async #candidates(entry: JsonObject | null): Promise<readonly Derivation[]> {
    const { contract, store, derivation } = this.#of
    const named = entry?.['derivation']
    const file = typeof named === 'string' ? named : derivation.file
    const versions = await store.derivationVersions(file)
    const earlier: Derivation[] = []
    for (const [index, { sha256, text }] of versions.entries()) {
      if (sha256 === derivation.sha256) continue
      // Parsing takes about a millisecond for each version: other requests are handled in between.
      if (index % VERSIONS_AT_ONCE === VERSIONS_AT_ONCE - 1) await nextTurn()
      try {
        // The hash covers the bytes of the file, the text may lack a byte order mark.
        earlier.push({ ...this.#sheet.parseDerivation({ file, bytes: Buffer.from(text) }, contract), sha256 })
      } catch (error) {
        if (!(error instanceof ContractError)) throw error
      }
    }
    return [derivation, ...earlier]
  }
}

function needsOf({ inputs, requiredInputs: required, nonEmptyInputs: nonEmpty }: Derivation): Needs {
  return { inputs, required, nonEmpty }
}

function factsOf({ inputs, pending }: WorkItem): InputFacts {
  return { value: (field) => inputs[field], pending: (field) => pending[field] }
}
