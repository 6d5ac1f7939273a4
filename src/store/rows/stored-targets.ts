import { isDeepStrictEqual } from 'node:util'
import type { Needs } from '../../errors/block.ts'
import type { Query } from './query.ts'
import type { TargetDefinition } from '../sheet-store.ts'

/** A derived field as the store keeps it. */
export interface StoredTarget extends Omit<TargetDefinition, 'text' | 'required' | 'nonEmpty' | 'sources'> {
  readonly id: number
  /** Null in a store of an earlier version, until the derivations are applied to it. */
  readonly required: readonly string[] | null
  /** As `required`. */
  readonly nonEmpty: readonly string[] | null
  readonly sources: string | null
  readonly active: boolean
}

/** Reads the derived fields of the store, active or once active. */
export const STORED_TARGETS: Query<readonly StoredTarget[]> = {
  sql: 'SELECT id, field, derivation, sha256, kind, inputs, required, non_empty, sources, active FROM "$target" ORDER BY id',
  params: [],
  result: (rows) =>
    rows.map((row) => ({
      id: Number(row['id']),
      field: String(row['field']),
      derivation: String(row['derivation']),
      sha256: String(row['sha256']),
      kind: String(row['kind']),
      inputs: JSON.parse(String(row['inputs'])) as string[],
      required: JSON.parse(String(row['required'])) as string[] | null,
      nonEmpty: JSON.parse(String(row['non_empty'])) as string[] | null,
      sources: row['sources'] === null ? null : String(row['sources']),
      active: row['active'] === true || row['active'] === 1,
    })),
}

/** Whether a derived field is active with this definition. */
export function isSameTarget(target: StoredTarget, definition: TargetDefinition): boolean {
  const { derivation, sha256, kind, inputs, required, nonEmpty, sources = null } = definition
  return (
    target.active &&
    isDeepStrictEqual(
      [
        target.derivation,
        target.sha256,
        target.kind,
        target.inputs,
        target.required,
        target.nonEmpty,
        target.sources,
      ],
      [derivation, sha256, kind, inputs, required, nonEmpty, sources],
    )
  )
}

/** Reads the active derived fields whose cells were not checked for the present sources of their derivation. */
export const UNCHECKED_TARGETS: Query<readonly string[]> = {
  sql: `SELECT field FROM "$target" WHERE active AND coalesce(sources, '') <> coalesce(checked_sources, '') ORDER BY id`,
  params: [],
  result: (rows) => rows.map((row) => String(row['field'])),
}

/** Returns the inputs of a derived field, for {@link blockOf}. */
export function needsOf({ inputs, required, nonEmpty }: StoredTarget): Needs {
  return { inputs, required: required ?? [], nonEmpty: nonEmpty ?? [] }
}

/** The derived fields of a sheet, by their names and by their inputs. */
export class StoredTargets {
  readonly targets: readonly StoredTarget[]
  readonly #byField: ReadonlyMap<string, StoredTarget>
  readonly #byInput: ReadonlyMap<string, readonly StoredTarget[]>

  constructor(targets: readonly StoredTarget[]) {
    this.targets = targets
    this.#byField = new Map(targets.map((target) => [target.field, target]))
    this.#byInput = new Map(
      [...new Set(targets.flatMap((target) => target.inputs))].map((input) => [
        input,
        targets.filter((target) => target.inputs.includes(input)),
      ]),
    )
  }

  /** Returns the derived field of this name, active or once active; `undefined` for an ordinary field. */
  target(field: string): StoredTarget | undefined {
    return this.#byField.get(field)
  }

  isDerived(field: string): boolean {
    return this.#byField.get(field)?.active === true
  }

  /** Returns the derived fields that are computed from a field. */
  computedFrom(field: string): readonly StoredTarget[] {
    return this.#byInput.get(field) ?? []
  }

  /**
   * Returns the active derived fields among these and those computed from them, directly or not, in the order of their
   * dependencies.
   */
  downstream(fields: readonly string[]): readonly StoredTarget[] {
    const found: StoredTarget[] = []
    const seen = new Set<string>()
    const visit = (field: string): void => {
      if (seen.has(field)) return
      seen.add(field)
      for (const { field: next, active } of this.computedFrom(field)) if (active) visit(next)
      const target = this.#byField.get(field)
      if (target?.active === true) found.push(target)
    }
    for (const field of fields) visit(field)
    return found.toReversed()
  }
}
