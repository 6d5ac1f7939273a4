import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import type { RawRecord, RawRecords } from './raw-records.ts'

/** Returns the same records, with the texts that mean no value removed. */
export function withoutNullTexts(file: RawRecords, nulls: readonly string[]): RawRecords {
  if (nulls.length === 0) return file
  const texts = new Set(nulls)
  async function* batches(): AsyncGenerator<readonly RawRecord[]> {
    for await (const batch of file.batches) {
      yield batch.map((record) => ({
        ...record,
        values: cleared(record.values, texts, file.cells === 'values'),
      }))
    }
  }
  return wrapped(file, batches)
}

/** Returns the same file with other batches. */
export function wrapped(file: RawRecords, batches: () => AsyncGenerator<readonly RawRecord[]>): RawRecords {
  return {
    ...file,
    batches: { [Symbol.asyncIterator]: batches },
    guesses: () => file.guesses?.() ?? [],
    progress: () => file.progress(),
  }
}

function cleared(values: JsonObject, texts: ReadonlySet<string>, stated: boolean): JsonObject {
  const isNull = (value: JsonValue | undefined): boolean =>
    typeof value === 'string' && texts.has(value.trim())
  if (!Object.values(values).some(isNull)) return values
  const kept = Object.entries(values).flatMap(([name, value]): [string, JsonValue][] =>
    // A file that can declare a null does so.
    isNull(value) ? (stated ? [[name, null]] : []) : [[name, value ?? null]],
  )
  return Object.fromEntries(kept)
}
