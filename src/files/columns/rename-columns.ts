import type { JsonObject } from '../../contract/json/json.ts'
import type { ColumnMatcher } from './match-columns.ts'
import { wrapped } from '../io/null-texts.ts'
import { placeOf, type RawRecord, type RawRecords } from '../io/raw-records.ts'

/** Returns the same records with columns renamed by a map. */
export function renameColumns(file: RawRecords, nameOf: ReadonlyMap<string, string>): RawRecords {
  if (isIdentity(nameOf)) return file
  async function* batches(): AsyncGenerator<readonly RawRecord[]> {
    for await (const batch of file.batches) yield batch.map((record) => renamed(record, nameOf))
  }
  return { ...wrapped(file, batches), fields: file.fields?.map((name) => nameOf.get(name) ?? name) ?? null }
}

/**
 * Returns the same records with columns named as their fields; columns without a field keep their names. Throws
 * ValidationError as {@link ColumnMatcher.match} does, for records with columns of their own while they are read.
 */
export function columnsAsFields(file: RawRecords, matcher: ColumnMatcher): RawRecords {
  if (matcher.isPlain) return file
  if (file.fields !== null) return renameColumns(file, matcher.match(file.fields, file.source.name))
  return wrapped(file, () => recordsAsFields(file.batches, matcher, file))
}

/** Does the same for records that can be read only once, each with columns of its own. */
export async function* recordsAsFields(
  batches: AsyncIterable<readonly RawRecord[]>,
  matcher: ColumnMatcher,
  origin: Pick<RawRecords, 'source' | 'unit'>,
): AsyncGenerator<readonly RawRecord[]> {
  // Most records have the columns of the previous one.
  let last: { readonly columns: readonly string[]; readonly nameOf: ReadonlyMap<string, string> } | null =
    null
  for await (const batch of batches) {
    yield batch.map((record) => {
      const columns = Object.keys(record.values)
      if (last === null || !areSame(last.columns, columns)) {
        last = { columns, nameOf: matcher.match(columns, placeOf(origin, record)) }
      }
      return isIdentity(last.nameOf) ? record : renamed(record, last.nameOf)
    })
  }
}

function renamed(record: RawRecord, nameOf: ReadonlyMap<string, string>): RawRecord {
  const { values, unknown } = record
  return {
    ...record,
    values: renamedValues(values, nameOf),
    ...(unknown === undefined ? {} : { unknown: unknown.map((name) => nameOf.get(name) ?? name) }),
  }
}

function renamedValues(values: JsonObject, nameOf: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [nameOf.get(name) ?? name, value]))
}

function isIdentity(nameOf: ReadonlyMap<string, string>): boolean {
  for (const [name, other] of nameOf) if (name !== other) return false
  return true
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name, index) => name === others[index])
}
