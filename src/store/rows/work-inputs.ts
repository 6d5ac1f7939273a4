import type { Contract, Field } from '../../contract/contract.ts'
import type { InputBytes, RecordKey, WorkQuery } from '../cell-work.ts'

/** Bytes from which a value is left out of inputs that are too long. */
export const LONG_VALUE_BYTES = 1 << 10

/** Bytes of inputs that are read at once, if there is more than one record. */
const PAGE_BYTES = 256 << 10

/** A record with the bytes of its inputs. */
export interface SizedRecord extends InputBytes {
  readonly key: RecordKey
}

/** Records to read at once. */
export interface InputPage {
  readonly keys: readonly RecordKey[]
  /** The bytes of the only record, when they exceed the limit. */
  readonly tooLong: InputBytes | null
}

/** Returns the first records, as many as are read at once, but at least one if there is one. */
export function inputPage(records: readonly SizedRecord[], limit: InputBytes): InputPage {
  const exceeds = ({ text, json }: InputBytes): boolean => text > limit.text || json > limit.json
  const [first] = records
  if (first === undefined) return { keys: [], tooLong: null }
  const { key, text, json } = first
  if (exceeds(first)) return { keys: [key], tooLong: { text, json } }
  let bytes = 0
  const end = records.findIndex((record, index) => {
    bytes += record.text + record.json
    return index > 0 && (bytes > PAGE_BYTES || exceeds(record))
  })
  return { keys: records.slice(0, end === -1 ? undefined : end).map((record) => record.key), tooLong: null }
}

/** Returns the fields whose values can be long: texts, and arrays and objects. */
export function longFields<T extends Pick<Field, 'type'>>(fields: readonly T[]): { text: T[]; json: T[] } {
  return {
    text: fields.filter(({ type }) => type === 'string'),
    json: fields.filter(({ type }) => type === 'array' || type === 'object'),
  }
}

/** An input of a derivation. */
export interface WorkInput {
  readonly field: Field
  /** The store's id of the input as a target; null for a field that is not derived. */
  readonly target: number | null
}

/** The ids of derived fields by name; `activeId` is null for an inactive one, `changed` as in `StoredTarget`. */
export type TargetIds = ReadonlyMap<
  string,
  { readonly id: number; readonly activeId: number | null; readonly changed: number }
>

/** Returns the inputs of a query that the contract has. */
export function workInputs({ inputs }: WorkQuery, contract: Contract, targets: TargetIds): WorkInput[] {
  return inputs.flatMap((name) => {
    const field = contract.fieldByName.get(name)
    return field === undefined ? [] : [{ field, target: targets.get(name)?.activeId ?? null }]
  })
}

/**
 * Returns the joins to `data` of the rows of inputs that are cells (`input<id>`) and of the targets' cells (`cell<index>`,
 * `todo<index>`, `failure<index>`).
 */
export function cellJoins(
  inputs: readonly WorkInput[],
  targets: readonly number[],
  failures: boolean,
): string {
  const join = (table: string, alias: string, id: number): string =>
    `LEFT JOIN "${table}" AS ${alias} ON ${alias}.target = ${id} AND ${alias}.record = data."$seq"`
  return [
    ...inputs.flatMap(({ target }) => (target === null ? [] : [join('$todo', `input${target}`, target)])),
    ...targets.flatMap((id, index) => [
      join('$cell', `cell${index}`, id),
      join('$todo', `todo${index}`, id),
      ...(failures ? [join('$failure', `failure${index}`, id)] : []),
    ]),
  ].join(' ')
}
