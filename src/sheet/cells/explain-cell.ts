import { setImmediate as nextTurn } from 'node:timers/promises'
import { isJsonObject, jsonEqual, type JsonObject } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import type { Derivation, InputValues } from '../../derivation/definition/derivation-kind.ts'
import { evidenceOf } from '../../derivation/definition/evidence.ts'
import { hashOfValues } from '../../derivation/plan/hash-of-values.ts'
import { retryTime } from '../../derivation/plan/planner.ts'
import { ContractError, SheetError } from '../../errors/service-error.ts'
import { blockOf, type Block, type InputFacts, type Needs } from '../../errors/block.ts'
import { shownState, type ShownCellState } from '../../store/cell-state.ts'
import type { WorkCell, WorkItem } from '../../store/cell-work.ts'
import type { CellFailureNote } from '../../store/sheet-store.ts'
import { hashedBy, reasonsBetween, type Past, type Reason } from './cell-reasons.ts'
import { selectTargets } from './read-status.ts'
import type { DerivingSheet, Sheet } from '../sheet.ts'

/** Why a cell is in the state that it is in. */
export interface CellExplanation {
  /** `blocked` for a cell with work that a run cannot do because of an input, whatever its state is otherwise (D32). */
  readonly state: ShownCellState
  /**
   * What makes the cell another than when it was last computed. Empty for one that is fresh, overridden or was never
   * computed, and when what changed has changed back.
   */
  readonly reasons: readonly Reason[]
  /** The input because of which a blocked cell cannot be computed, and the reason (D22, D32); null for any other cell. */
  readonly blockedBy: string | null
  readonly blockedReason: Block['reason'] | null
  /** Derived fields to be computed before this cell can be, each after those that it is computed from. */
  readonly waitsFor: readonly string[]
  /** Of a cell whose last try failed. */
  readonly failure: ExplainedFailure | null
  /** The latest provenance entry: it explains the value that the cell has (D34). Null when nothing is known of it. */
  readonly entry: JsonObject | null
}

/** Why a cell failed, and when runs try it again. */
export interface ExplainedFailure extends Omit<CellFailureNote, 'inputHash'> {
  /** Null for never; absent where the next run tries it. */
  readonly retryAt?: string | null
}

/** Versions of a derivation file that are parsed in one turn of the event loop. */
const VERSIONS_AT_ONCE = 8

/** How often an explanation is put together at most, when the cell is written while that goes on. */
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
    // The parts of an explanation are of one state of the cell.
    if (left === 0 || jsonEqual(item, after)) return explanation
    item = after
  }
}

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

  /** The record with the inputs and the cell, as a run would read it. Throws SheetError when it does not exist. */
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
          })
    if (item === undefined) throw new SheetError(`no record ${showValue(id)}`)
    return item
  }

  async explain(item: WorkItem): Promise<CellExplanation> {
    const { store, target, derivation } = this.#of
    const { key, inputs } = item
    const cell = item.cells.find((candidate) => candidate.target === target)
    if (cell === undefined) throw new Error(`the store has no cell of ${target}`)
    const provenance = await store.provenance(item.id, target, 1)
    const block = cell.blocked ? blockOf(needsOf(derivation), factsOf(item)) : null
    const explanation = {
      state: shownState(cell),
      failure:
        cell.state === 'failed' ? await this.#failureOf(await store.cellFailure(key, target), item) : null,
      entry: provenance?.entries[0] ?? null,
      blockedBy: block?.field ?? null,
      blockedReason: block?.reason ?? null,
    }
    if (cell.state === 'fresh' || cell.state === 'overridden')
      return { ...explanation, reasons: [], waitsFor: [] }
    const past = await this.#past(item.id, cell)
    return {
      ...explanation,
      reasons: past === null ? [] : this.#reasons(past, inputs),
      waitsFor: cell.blocked ? [] : [...new Set(await this.#waitsFor(item))],
    }
  }

  /** Plans the call only where there is something to compare it with: that takes as long as the inputs are. */
  #reasons(past: Past, inputs: InputValues): CellExplanation['reasons'] {
    const { derivation } = this.#of
    return reasonsBetween(past, { derivation, inputs, hashed: hashedBy(derivation, inputs) })
  }

  async #failureOf(note: CellFailureNote | null, { inputs }: WorkItem): Promise<ExplainedFailure | null> {
    if (note === null) return null
    const { inputHash: failed, ...failure } = note
    const { derivation } = this.#of
    const time = failed === undefined ? null : retryTime(derivation, note)
    if (time === null || hashOfValues(derivation, inputs) !== failed || time <= (await this.#sheet.now()))
      return failure
    return { ...failure, retryAt: time === Infinity ? null : new Date(time).toISOString() }
  }

  /** The inputs of a cell that have no value yet and can be computed, with those that these wait for in turn. */
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

  /** What is known of the last computation of a cell; null when there was none. */
  async #past(id: string, cell: WorkCell): Promise<Past | null> {
    const { inputHash: hash } = cell
    if (hash === null) return null
    // A revert puts the hash of an earlier computation back: the inputs are those of the computation, not of the revert.
    const entry = await this.#of.store.computation(id, this.#of.target, hash)
    return {
      inputHash: hash,
      values: await this.#valuesAfter(id, entry),
      candidates: await this.#candidates(entry),
      evidence: entry === null ? {} : evidenceOf(entry),
    }
  }

  /**
   * The record right after an entry. The inputs were the same when the call of that entry was planned: had one been
   * written since, the answer would not have been stored (D28).
   */
  async #valuesAfter(id: string, entry: JsonObject | null): Promise<InputValues | null> {
    const { contract, store } = this.#of
    const seq = Number(entry?.['seq'] ?? 0)
    if (seq === 0 || seq < (await store.history()).first) return null
    const fields = contract.fields.map(({ name }) => name)
    const record = await store.recordAsOf(id, fields, seq)
    const values: unknown = JSON.parse(String(record))
    return isJsonObject(values) ? values : null
  }

  /** What the derivation file can have been at an entry; versions that the contract of today does not allow are left out. */
  async #candidates(entry: JsonObject | null): Promise<readonly Derivation[]> {
    const { contract, store, derivation } = this.#of
    const named = entry?.['derivation']
    const file = typeof named === 'string' ? named : derivation.file
    const versions = await store.derivationVersions(file)
    const earlier: Derivation[] = []
    for (const [index, { sha256, text }] of versions.entries()) {
      if (sha256 === derivation.sha256) continue
      // Parsing takes about a millisecond for each: other requests have their turn.
      if (index % VERSIONS_AT_ONCE === VERSIONS_AT_ONCE - 1) await nextTurn()
      try {
        // The hash is of the file's bytes, of which the text may be a part: without a byte order mark.
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
