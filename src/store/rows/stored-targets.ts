import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Needs } from '../../errors/block.ts'
import type { Query } from './query.ts'
import type { UncheckedTarget } from '../cell-work.ts'
import type { RecordsQuery } from '../records-query.ts'
import type { TargetDefinition } from '../sheet-store.ts'

/** A derived field as the store keeps it. */
export interface StoredTarget extends Omit<
  TargetDefinition,
  'text' | 'required' | 'nonEmpty' | 'sources' | 'reads'
> {
  readonly id: number
  /** Null in a store of an earlier version, until the derivations are applied to it. */
  readonly required: readonly string[] | null
  /** Null in the same stores as `required`. */
  readonly nonEmpty: readonly string[] | null
  /** For a target with `reads` only what it was when the targets were loaded: every write may change it. */
  readonly sources: string | null
  /** See {@link TargetDefinition.reads}. */
  readonly reads: readonly string[] | null
  readonly active: boolean
  /** The seq of the line of the last change of fields that concerned it or its inputs; 0 for none. */
  readonly changed: number
}

/** Reads the derived fields of the store, active or once active. */
export const STORED_TARGETS: Query<readonly StoredTarget[]> = {
  sql: 'SELECT id, field, derivation, sha256, kind, inputs, required, non_empty, sources, reads, active, changed FROM "$target" ORDER BY id',
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
      reads: JSON.parse(String(row['reads'])) as string[] | null,
      active: row['active'] === true || row['active'] === 1,
      changed: Number(row['changed']),
    })),
}

/** Whether a derived field is active with this definition. */
export function isSameTarget(target: StoredTarget, definition: TargetDefinition): boolean {
  const { derivation, sha256, kind, inputs, required, nonEmpty, sources = null, reads = null } = definition
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
        target.reads,
        // The store itself keeps the version of a query.
        reads === null ? target.sources : null,
      ],
      [derivation, sha256, kind, inputs, required, nonEmpty, reads, reads === null ? sources : null],
    )
  )
}

/**
 * Whether the states of the cells of a derived field, active or once active, hold with a changed definition: with the same file, or if they are
 * compared with it later. States follow writes also while the field is not derived.
 */
export function keepsStates(target: StoredTarget, { sha256, inputs, isChecked }: TargetDefinition): boolean {
  if (target.active) return target.sha256 === sha256 || isChecked === true
  // The same file may mean other fields: names of inputs follow renamed and removed fields, and the file had none to follow.
  return target.sha256 === sha256 && isDeepStrictEqual(target.inputs, inputs)
}

/** The columns of the versions of a derived field. */
interface StoredVersions {
  readonly sources: string | null
  /** JSON of {@link TargetDefinition.reads}; null for none. */
  readonly reads: string | null
}

/** Returns the versions of a new derived field. Cells of a query are checked once, whatever state an imported log gives them. */
export function firstVersions({
  sources = null,
  reads = null,
}: TargetDefinition): StoredVersions & { readonly checked: string | null } {
  return reads === null
    ? { sources, checked: sources, reads: null }
    : { sources: '0', checked: null, reads: JSON.stringify(reads) }
}

/**
 * Returns the versions of a changed derived field. A query gets one that no query ever had: writes were not followed for other
 * fields, and not at all while the field had no query.
 */
export function nextVersions({ sources = null, reads = null }: TargetDefinition): StoredVersions {
  return reads === null ? { sources, reads: null } : { sources: randomUUID(), reads: JSON.stringify(reads) }
}

/** Reads the active derived fields whose cells were not checked for the present sources of their derivation. */
export const UNCHECKED_TARGETS: Query<readonly UncheckedTarget[]> = {
  sql: `SELECT field, sources FROM "$target" WHERE active AND coalesce(sources, '') <> coalesce(checked_sources, '') ORDER BY id`,
  params: [],
  result: (rows) =>
    rows.map((row) => ({
      field: String(row['field']),
      sources: row['sources'] === null ? null : String(row['sources']),
    })),
}

/** Reads the present version of the fields that the query of a derived field reads. */
export function targetVersion(id: number): Query<string | null> {
  return {
    sql: 'SELECT sources FROM "$target" WHERE id = ?1',
    params: [id],
    result: ([row]) => (typeof row?.['sources'] === 'string' ? row['sources'] : null),
  }
}

/**
 * Returns the version that the store keeps for the query of a derived field; null if that reads other fields, as when a changed file is
 * tried out.
 */
export function queryVersion({ targets, reads }: RecordsQuery): Query<string | null> {
  const names = JSON.stringify(reads.map(({ name }) => name))
  return {
    sql: 'SELECT sources, reads FROM "$target" WHERE field = ?1 AND active',
    params: [targets[0]?.name ?? ''],
    result: ([row]) => {
      const isSame = JSON.stringify(JSON.parse(String(row?.['reads'] ?? null))) === names
      return isSame && typeof row?.['sources'] === 'string' ? row['sources'] : null
    },
  }
}

/** Returns the inputs of a derived field, for {@link blockOf}. */
export function needsOf({ inputs, required, nonEmpty }: StoredTarget): Needs {
  return { inputs, required: required ?? [], nonEmpty: nonEmpty ?? [] }
}

const NONE: readonly StoredTarget[] = []

/** The derived fields of a sheet, by their names and by their inputs. */
export class StoredTargets {
  readonly targets: readonly StoredTarget[]
  readonly #byField: ReadonlyMap<string, StoredTarget>
  readonly #byInput: ReadonlyMap<string, readonly StoredTarget[]>
  readonly #readers: readonly StoredTarget[]

  constructor(targets: readonly StoredTarget[]) {
    this.targets = targets
    this.#readers = targets.filter(({ active, reads }) => active && reads !== null)
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
   * Returns the active derived fields whose query reads a field in all records; with null those with any query, which depend on which
   * records there are.
   */
  readersOf(field: string | null): readonly StoredTarget[] {
    if (this.#readers.length === 0) return NONE
    return field === null ? this.#readers : this.#readers.filter(({ reads }) => reads?.includes(field))
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
