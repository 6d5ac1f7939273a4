import type { Contract, LogicalType } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { idSourceOf } from '../../contract/odcs/id-source.ts'
import { originalNames } from '../../contract/odcs/original-names.ts'
import { typeOfColumn } from '../../files/inference/column-type.ts'
import { fieldNames } from '../../files/inference/field-names.ts'
import { profileRecords } from '../../files/inference/infer-profile.ts'
import type { FileFormat } from '../../files/io/file-format.ts'
import { wrapped } from '../../files/io/null-texts.ts'
import type { FileSource, RawRecord, RawRecords } from '../../files/io/raw-records.ts'
import type { ReadFileOptions } from '../../files/io/read-options.ts'
import { readRecordFile } from '../../files/read-record-file.ts'
import type { Sheet } from '../sheet.ts'

/** A column of a file that may be imported. */
export interface FileColumn {
  readonly name: string
  /** The field that an import would use for it by its name; null for none. */
  readonly field: string | null
  /** The first different values. */
  readonly samples: readonly JsonValue[]
  /** A free name, and the type of its values, for a new field. */
  readonly newField: { readonly name: string; readonly type: LogicalType }
}

/** The columns of a file, as far as its beginning shows them. */
export interface FileColumns {
  readonly columns: readonly FileColumn[]
  /** Whether records may be numbered instead of a column that has their ids, and whether ids are joined from other fields. */
  readonly ids: 'numbers' | 'joined' | null
  /** See {@link RawRecords.guesses}. */
  readonly guesses: readonly string[]
}

/** The most records that are read. */
const RECORDS_READ = 10_000

const SAMPLES = 3

/** The most characters of a sample. */
const SAMPLE_LENGTH = 200

/**
 * Reads the columns at the beginning of a file, the fields that they are by their names, and the fields that they could become. Throws
 * ValidationError with file and line for a file that cannot be read.
 */
export async function readColumns(
  sheet: Sheet,
  source: FileSource,
  { format, read }: { readonly format: FileFormat; readonly read: ReadFileOptions },
): Promise<FileColumns> {
  const { contract } = await sheet.current()
  const file = await readRecordFile(source, format, read)
  const samples = new Map<string, JsonValue[]>()
  const { columns, file: profiled } = await profileRecords(
    beginningOf(file, (record) => addSamples(samples, record)),
    null,
  )
  const names = columns.map(({ name }) => name)
  const fieldOf = matchedFields(contract, names)
  const free = fieldNames(
    names,
    contract.fields.map(({ name }) => name),
  )
  const context = { cells: profiled.cells, dateOrder: read.dateOrder ?? null, decimalComma: null }
  const idSource = idSourceOf(contract)
  return {
    columns: columns.map((column, index) => ({
      name: column.name,
      field: fieldOf.get(column.name) ?? null,
      samples: samples.get(column.name) ?? [],
      newField: { name: free[index] ?? column.name, type: typeOfColumn(column, context).type },
    })),
    ids: idSource === null ? null : idSource.kind === 'rowNumber' ? 'numbers' : 'joined',
    guesses: file.guesses?.() ?? [],
  }
}

/** Returns the first records of a file; `each` is called for every record. */
function beginningOf(file: RawRecords, each: (record: RawRecord) => void): RawRecords {
  async function* batches(): AsyncGenerator<readonly RawRecord[]> {
    let left = RECORDS_READ
    for await (const batch of file.batches) {
      const some = batch.slice(0, left)
      for (const record of some) each(record)
      yield some
      left -= some.length
      if (left === 0) return
    }
  }
  return wrapped(file, batches)
}

function addSamples(samples: Map<string, JsonValue[]>, { values }: RawRecord): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === '') continue
    const known = samples.get(name) ?? []
    samples.set(name, known)
    if (known.length === SAMPLES) continue
    const sample = typeof value === 'string' ? value.slice(0, SAMPLE_LENGTH) : value
    if (!known.includes(sample)) known.push(sample)
  }
}

/** Returns the fields of columns by their own and original names, whatever their case; each field once, by its best name. */
function matchedFields(contract: Contract, columns: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const taken = new Set<string>()
  const originals = originalNames(contract)
  const isOriginal = (field: string, column: string): boolean =>
    originals.get(field)?.includes(column) ?? false
  const same = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase()
  const ways: readonly ((field: string, column: string) => boolean)[] = [
    (field, column) => field === column,
    isOriginal,
    (field, column) => same(field, column) || (originals.get(field) ?? []).some((name) => same(name, column)),
  ]
  for (const way of ways) {
    for (const column of columns) {
      const field = contract.fields.find(({ name }) => !taken.has(name) && way(name, column))?.name
      if (field === undefined || found.has(column)) continue
      found.set(column, field)
      taken.add(field)
    }
  }
  return found
}
