import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Field } from '../../contract/contract.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { parsePage, type RecordPages } from '../io/record-pages.ts'
import { parquetColumn } from './parquet-columns.ts'

/** The limits of a row group, in records and bytes. */
export const GROUP_RECORDS = 10_000
const GROUP_BYTES = 16 << 20

/** Writes the records as Parquet, one row group after the other; every column is nullable. */
export async function* writeParquet(
  fields: readonly Field[],
  pages: RecordPages,
): AsyncGenerator<Uint8Array> {
  const columns = fields.map(parquetColumn)
  const bytes = new ByteWriter()
  const file = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'records', num_children: columns.length }, ...columns.map(({ schema }) => schema)],
    createdBy: 'colophon',
  })
  const writeGroup = (records: readonly JsonObject[]): void => {
    const columnData = columns.map(({ name, toStored }) => ({
      name,
      data: records.map((record) => toStored(record[name] ?? null)),
      // Page indexes would be kept in memory until the end.
      offsetIndex: false,
    }))
    void file.write({ columnData, rowGroupSize: records.length })
  }
  const taken = (): Uint8Array => {
    const chunk = bytes.getBytes().slice()
    bytes.index = 0
    return chunk
  }
  let group: JsonObject[] = []
  let size = 0
  for await (const page of pages) {
    const records = parsePage(page)
    const full = group.length + records.length > GROUP_RECORDS || size + page.length > GROUP_BYTES
    if (full && group.length > 0) {
      writeGroup(group)
      group = []
      size = 0
      yield taken()
    }
    group.push(...records)
    size += page.length
  }
  if (group.length > 0) writeGroup(group)
  void file.finish()
  yield taken()
}
