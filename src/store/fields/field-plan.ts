import type { Contract, Field } from '../../contract/contract.ts'
import { ContractError, fileError } from '../../errors/service-error.ts'
import type { Conversion, FieldChanges } from '../field-changes.ts'
import { keptColumn } from './kept-columns.ts'
import { keptFields, MOST_CHANGES, type KeptField, type StoredFieldChange } from './stored-changes.ts'

/** The changes of the fields of a store, checked against its contract. */
export interface FieldPlan {
  readonly before: Contract
  readonly after: Contract
  /** The seq of the line of the log. */
  readonly seq: number
  /** Fields with the same type and perhaps another name. */
  readonly renamed: readonly { readonly before: Field; readonly after: Field }[]
  /** `kept` is the column that has the values from now on. */
  readonly removed: readonly RemovedField[]
  readonly converted: readonly ConvertedField[]
  /** `kept` is the column that has had the values so far, since the line `change`. */
  readonly restored: readonly { readonly after: Field; readonly kept: string; readonly change: number }[]
}

export interface RemovedField {
  readonly before: Field
  readonly confirmed: number | null
  readonly kept: string
}

export interface ConvertedField extends Conversion {
  readonly before: Field
  readonly after: Field
  /** The column that has the values before, from now on. */
  readonly kept: string
  /** The earlier conversion that is taken back: its values return where nobody has written others since. Null for none. */
  readonly undone: KeptField | null
}

/** Requested changes between two contracts. */
export interface ChangeRequest {
  readonly before: Contract
  readonly after: Contract
  readonly changes: FieldChanges
  /** The seq of the line of the log. */
  readonly seq: number
}

/** Checks requested changes against the contracts and earlier changes. Throws ContractError for one that they do not allow. */
export function planFields(
  { before, after, changes, seq }: ChangeRequest,
  earlier: readonly StoredFieldChange[],
): FieldPlan {
  const { renamed, removed, converted, restored = new Map<string, number>() } = changes
  const requested = renamed.size + removed.size + converted.size + restored.size
  if (requested > 0 && earlier.length >= MOST_CHANGES)
    refuse(`the fields have been changed ${MOST_CHANGES} times, and a sheet takes no more`)
  const kept = keptFields(earlier)
  const nameBefore = new Map([...renamed].map(([from, to]) => [to, from]))
  if (nameBefore.size < renamed.size) refuse('two properties are renamed to the same name')
  let columns = 0
  const column = (): string => keptColumn(seq, columns++)
  const gone = [...removed].map(([name, confirmed]) => {
    if (renamed.has(name)) refuse(`property "${name}" is removed and renamed at once`)
    return { before: ordinary(before, name, 'removed'), confirmed, kept: column() }
  })
  const conversions = [...converted].flatMap(([name, { onInvalid }]) => {
    const field = ordinary(after, name, 'converted')
    const source = ordinary(before, nameBefore.get(name) ?? name, 'converted')
    if (source.type === field.type) return []
    const change = restored.get(name)
    const undone =
      change === undefined ? null : keptOf(kept, { change, field, name: source.name, removed: false })
    return [{ before: source, after: field, onInvalid, kept: column(), undone }]
  })
  const stays = (name: string): boolean =>
    before.fieldByName.has(name) && !renamed.has(name) && !removed.has(name)
  const moved = [...renamed].flatMap(([from, to]) => {
    if (stays(to)) refuse(`property "${from}" cannot be renamed to "${to}": another has that name`)
    const pair = { before: ordinary(before, from, 'renamed'), after: ordinary(after, to, 'renamed') }
    if (pair.before.type === pair.after.type) return [pair]
    if (converted.has(to)) return []
    const types = `of type ${pair.before.type} is renamed to "${to}" of type ${pair.after.type}`
    return refuse(`property "${from}" ${types}: convert it, or put the type back`)
  })
  const back = [...restored].flatMap(([name, change]) => {
    if (converted.has(name)) return []
    const field = ordinary(after, name, 'restored')
    if (stays(name) || nameBefore.has(name))
      refuse(`property "${name}" cannot be restored: another has its name`)
    return [{ after: field, kept: keptOf(kept, { change, field, name, removed: true }).column, change }]
  })
  return { before, after, seq, renamed: moved, removed: gone, converted: conversions, restored: back }
}

function keptOf(
  kept: readonly KeptField[],
  {
    change,
    field,
    name,
    removed,
  }: {
    readonly change: number
    readonly field: Field
    /** The name that the field has now, or of a removed one had. */
    readonly name: string
    readonly removed: boolean
  },
): KeptField {
  const all = kept.filter(
    (one) => one.change === change && one.type === field.type && one.removed === removed,
  )
  // A removed field returns under its name; a converted one may have another by now.
  const [only] = removed || all.length > 1 ? [] : all
  const found = all.find((one) => one.name === name) ?? only
  if (found !== undefined) return found
  return refuse(
    `the store has no values of property "${field.name}", of type ${field.type}, from the change ${change}`,
  )
}

function ordinary(contract: Contract, name: string, change: string): Field {
  const field = contract.fieldByName.get(name)
  if (field === undefined)
    return refuse(`property "${name}" cannot be ${change}: the contract has none of that name`)
  if (field.primaryKey) refuse(`property "${name}" is the primary-key and cannot be ${change}`)
  return field
}

function refuse(reason: string): never {
  const message = `cannot be changed like this: ${reason}`
  throw new ContractError(...fileError({ file: 'contract.yaml', line: null, message }, 'contract_conflict'))
}

/** Returns the fields before, as far as they differ from those after in more than the plan. */
export function withPlan({
  before,
  renamed,
  removed,
  converted,
  restored,
}: FieldPlan): Pick<Contract, 'fields' | 'fieldByName'> {
  const gone = new Set([...removed, ...converted].map((field) => field.before.name))
  const names = new Map(renamed.map((field) => [field.before.name, field.after.name]))
  const fields = [
    ...before.fields
      .filter(({ name }) => !gone.has(name))
      .map((field) => ({ ...field, name: names.get(field.name) ?? field.name })),
    // Conversions are checked value by value.
    ...converted.map((field) => field.after),
    // The contract may have changed while the field was absent.
    ...restored.map(({ after }) => ({
      ...after,
      required: false,
      options: {},
      validValues: null,
      unique: false,
    })),
  ]
  return { fields, fieldByName: new Map(fields.map((field) => [field.name, field])) }
}

export function changesNothing({ renamed, removed, converted, restored }: FieldPlan): boolean {
  return renamed.length + removed.length + converted.length + restored.length === 0
}

/** Returns the change as the store keeps it. */
export function storedChange({ seq, renamed, removed, converted, restored }: FieldPlan): StoredFieldChange {
  return {
    seq,
    renamed: [...renamed, ...converted]
      .map((field) => [field.before.name, field.after.name] as const)
      .filter(([from, to]) => from !== to),
    removed: removed.map(({ before: { name, type }, kept }) => ({ name, type, column: kept })),
    converted: converted.map(({ before, after: { name, type }, kept }) => ({
      name,
      from: before.type,
      to: type,
      column: kept,
    })),
    restored: restored.map(({ after: { name }, change, kept }) => ({ name, change, column: kept })),
  }
}
