import type { Field } from '../../contract/contract.ts'
import type { InputBytes, RecordKey } from '../cell-work.ts'

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
