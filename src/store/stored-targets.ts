import type { TargetDefinition } from './sheet-store.ts'

/** A derived field as the store keeps it. */
export interface StoredTarget extends Omit<TargetDefinition, 'text'> {
  readonly id: number
  readonly active: boolean
}

/** The derived fields of a sheet, by their names and by what they are computed from. */
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

  /** The derived field of this name, active or once active; `undefined` for an ordinary field. */
  target(field: string): StoredTarget | undefined {
    return this.#byField.get(field)
  }

  isDerived(field: string): boolean {
    return this.#byField.get(field)?.active === true
  }

  /** The derived fields that are computed from a field. */
  computedFrom(field: string): readonly StoredTarget[] {
    return this.#byInput.get(field) ?? []
  }
}
