import { sameValue } from '../same-value.ts'
import type { Contract, Field } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { convertValue } from '../../contract/values/convert-value.ts'
import { valueError } from '../../contract/values/validate-value.ts'
import type { RecordKey } from '../cell-work.ts'
import type { FieldEffect, Misfit } from '../field-changes.ts'
import type { ConvertedField, FieldPlan, RemovedField } from '../fields/field-plan.ts'
import { load, type Steps } from '../rules/steps.ts'
import {
  recordsText,
  valueCount,
  VALUES_AT_ONCE,
  type FieldValue,
  type RecordsToCheck,
} from './contract-conflicts.ts'

/** Values that do not fit, of those that an effect lists. */
const LISTED_MISFITS = 100

interface EffectOptions {
  /** The names of the fields that derivations compute. */
  readonly derived: ReadonlySet<string>
}

/** The effect of a plan on the fields that it names, and why it is refused. */
export interface PlannedEffect {
  readonly fields: readonly FieldEffect[]
  readonly conflicts: readonly string[]
}

/** Determines the effect of a plan from the records before it. */
export function* planEffect(
  records: RecordsToCheck,
  plan: FieldPlan,
  options: EffectOptions,
): Steps<PlannedEffect> {
  const conflicts: string[] = []
  const fields: FieldEffect[] = []
  const moved = [
    ...plan.renamed.map(
      ({ before, after }) =>
        ({ change: 'renamed', before: before.name, after, column: before.name }) as const,
    ),
    ...plan.restored.map(
      ({ after, kept }) => ({ change: 'restored', before: null, after, column: kept }) as const,
    ),
  ]
  for (const { change, before, after, column } of moved) {
    const kept = yield* load(records.query(valueCount({ name: column })))
    fields.push({ ...NO_VALUES, change, field: after.name, before, kept })
  }
  for (const converted of plan.converted) {
    const { effect, conflict } = yield* conversion(
      records,
      converted,
      options.derived.has(converted.after.name),
    )
    fields.push(effect)
    if (conflict !== null) conflicts.push(conflict)
  }
  for (const removed of plan.removed) {
    const lost = yield* load(records.query(valueCount(removed.before)))
    fields.push({
      ...NO_VALUES,
      change: 'removed',
      field: removed.before.name,
      before: removed.before.name,
      lost,
    })
    const conflict = unconfirmed(removed, lost)
    if (conflict !== null) conflicts.push(conflict)
  }
  return { fields, conflicts }
}

const NO_VALUES = { kept: 0, converted: 0, lost: 0, misfits: [] } as const

function unconfirmed({ before: { name }, confirmed }: RemovedField, lost: number): string | null {
  // A field without values needs no confirmation.
  if ((confirmed ?? 0) === lost) return null
  const asked =
    confirmed === null
      ? 'confirm that number'
      : `${confirmed} were confirmed; look again, and confirm ${lost}`
  return `removing property "${name}" loses its value in ${recordsText(lost)}: ${asked}`
}

/** Returns the effects with those of added fields, in the order of the contract, and those of removed fields at the end. */
export function inOrder(
  { fields }: Contract,
  effects: readonly FieldEffect[],
  added: readonly Field[],
): readonly FieldEffect[] {
  const all = [
    ...effects,
    ...added.map(({ name }): FieldEffect => ({ ...NO_VALUES, change: 'added', field: name, before: null })),
  ]
  const place = new Map(fields.map(({ name }, index) => [name, index]))
  const placeOf = ({ change, field }: FieldEffect): number =>
    change === 'removed' ? fields.length : (place.get(field) ?? fields.length)
  return all.toSorted((a, b) => placeOf(a) - placeOf(b))
}

interface ConversionEffect {
  readonly effect: FieldEffect
  readonly conflict: string | null
}

function* conversion(
  records: RecordsToCheck,
  converted: ConvertedField,
  isDerived: boolean,
): Steps<ConversionEffect> {
  const { before, after, undone, onInvalid } = converted
  const convertOne = conversionOf(converted, isDerived)
  const misfits: Misfit[] = []
  const distinct = after.unique ? new Set<string>() : null
  let [kept, changed, lost, shared, unfit] = [0, 0, 0, 0, 0]
  for (let from: RecordKey = 0; ;) {
    const values: readonly FieldValue[] = yield* load(records.values(before, from, VALUES_AT_ONCE))
    const earlier: readonly FieldValue[] =
      undone === null
        ? []
        : yield* load(records.values({ ...after, name: undone.column }, from, VALUES_AT_ONCE))
    for (const [index, { id, value }] of values.entries()) {
      const result = convertOne(value, earlier[index]?.value ?? null)
      if (result.error !== null) {
        unfit += 1
        if (misfits.length < LISTED_MISFITS) misfits.push({ recordId: id, value, error: result.error })
      }
      if (value !== null && result.error !== null) lost += 1
      else if (sameValue(value, result.value)) kept += value === null ? 0 : 1
      else changed += 1
      if (distinct === null || result.value === null) continue
      const text = JSON.stringify(result.value)
      if (distinct.has(text)) shared += 1
      distinct.add(text)
    }
    if (values.length < VALUES_AT_ONCE) break
    from = values.at(-1)?.key ?? from
  }
  const effect = {
    change: 'converted',
    field: after.name,
    before: before.name,
    kept,
    converted: changed,
    lost,
    misfits,
  } as const
  return { effect, conflict: conflictOf() }

  function conflictOf(): string | null {
    const [first] = misfits
    const what = `property "${after.name}" is converted from ${before.type} to ${after.type}`
    const needsValue = after.required && !isDerived
    if (first !== undefined && (onInvalid === 'refuse' || needsValue)) {
      return `${what}, and ${recordsText(unfit)} would break it ("${first.recordId}": ${first.error}); correct them first${needsValue ? '' : ', or let them lose the value'}`
    }
    return shared === 0
      ? null
      : `${what} and unique, and ${recordsText(shared)} would share a value with another`
  }
}

/** A converted value; with an error the value is null. */
export interface ConvertedValue {
  readonly value: JsonValue
  readonly error: string | null
}

/**
 * Returns the conversion of a field's values. It takes the present value, and where an earlier conversion is taken back the
 * value before that: it returns if the present value is what that conversion has made of it.
 */
export function conversionOf(
  { before, after, undone }: ConvertedField,
  isDerived: boolean,
): (present: JsonValue, earlier: JsonValue) => ConvertedValue {
  const madeOf = (earlier: JsonValue): JsonValue => {
    const made = convertValue(before, after.type, earlier)
    return made === undefined || valueError(before, made) !== null ? null : made
  }
  return (present, earlier) => {
    const isBack = undone !== null && earlier !== null && sameValue(madeOf(earlier), present)
    const value = isBack ? earlier : convertValue(after, before.type, present)
    if (value === undefined)
      return { value: null, error: `${JSON.stringify(present)} is not of type ${after.type}` }
    if (value === null && isDerived) return { value, error: null }
    const error = valueError(after, value)
    return { value: error === null ? value : null, error }
  }
}
