import type { RawRecord, RawRecords } from '../io/raw-records.ts'
import { wrapped } from '../io/null-texts.ts'

/** Returns the same records without some columns. */
export function withoutColumns(file: RawRecords, names: ReadonlySet<string>): RawRecords {
  if (names.size === 0) return file
  const isKept = (name: string): boolean => !names.has(name)
  const without = ({ values, unknown, ...record }: RawRecord): RawRecord => ({
    ...record,
    values: Object.fromEntries(Object.entries(values).filter(([name]) => isKept(name))),
    ...(unknown === undefined ? {} : { unknown: unknown.filter(isKept) }),
  })
  async function* batches(): AsyncGenerator<readonly RawRecord[]> {
    for await (const batch of file.batches) yield batch.map(without)
  }
  return { ...wrapped(file, batches), fields: file.fields?.filter(isKept) ?? null }
}
