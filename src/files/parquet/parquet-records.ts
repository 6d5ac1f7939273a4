import { parquetMetadataAsync, parquetScan, parquetSchema, type FileMetaData } from 'hyparquet'
import { getMaxDefinitionLevel, getMaxRepetitionLevel, getTreePath } from 'hyparquet/src/schema.js'
import type { DecodedArray, SchemaTree } from 'hyparquet/src/types.js'
import type { JsonValue } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { ServiceError, ValidationError } from '../../errors/service-error.ts'
import { checkColumns } from '../columns/check-columns.ts'
import { MAX_RECORD_SIZE, tooLargeRecord } from '../io/file-limits.ts'
import { Batch, valuesOf, type FileSource, type RawRecord } from '../io/raw-records.ts'
import { asSourceError } from '../io/source-error.ts'
import { checkPages, MAX_GROUP_BYTES, MAX_GROUP_VALUES } from './check-pages.ts'
import type { LevelsOfColumn } from './delta-byte-array.ts'
import { FileBuffer } from './file-buffer.ts'
import { COMPRESSORS } from './parquet-codecs.ts'
import { settleByteArrays, settleDecimals } from './parquet-schema.ts'
import { jsonOf, PARSERS } from './parquet-values.ts'

/** The most bytes of the metadata of a file. */
const MAX_METADATA = 64 << 20

/** An opened Parquet file. */
export interface ParquetFile {
  readonly fields: readonly string[]
  /** The number of records that the file declares. */
  readonly total: number
  /** Yields its records, one row group after the other. */
  batches(): AsyncGenerator<readonly RawRecord[]>
}

/** Opens a Parquet file. Throws ValidationError for a damaged file, or one that is too large when decompressed. */
export function openParquet(source: FileSource): Promise<ParquetFile> {
  return withFile(source, async (file) => {
    const metadata = await readMetadata(file, source)
    settleByteArrays(metadata)
    const columns = parquetSchema(metadata).children
    columns.forEach(settleDecimals)
    const fields = checkColumns(
      columns.map(({ element }) => element.name),
      source.name,
    )
    return {
      fields,
      total: Number(metadata.num_rows),
      batches: () => groupsOf(source, metadata, columns),
    }
  })
}

async function readMetadata(file: FileBuffer, { name }: FileSource): Promise<FileMetaData> {
  const tail = file.byteLength < 12 ? null : new DataView(await file.slice(file.byteLength - 8))
  if (tail === null || tail.getUint32(4, true) !== MAGIC) {
    throw new ValidationError(
      `${name} is no Parquet file: it does not end in PAR1; was it cut off?`,
      'unreadable_file',
    )
  }
  if (tail.getUint32(0, true) > Math.min(MAX_METADATA, file.byteLength - 8)) {
    throw new ValidationError(
      `${name}: the file is damaged: what it says about itself is larger than possible`,
      'unreadable_file',
    )
  }
  // Without converting values: statistics may contain invalid or truncated texts.
  return parquetMetadataAsync(file, { geoparquet: false })
}

const MAGIC = 0x31524150

async function* groupsOf(
  source: FileSource,
  metadata: FileMetaData,
  columns: readonly SchemaTree[],
): AsyncGenerator<readonly RawRecord[]> {
  let rowStart = 0
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows)
    const data = await withFile(source, async (file) => {
      await checkGroup(file, { group, tree: parquetSchema(metadata), name: source.name })
      return readColumns(file, { name: source.name, metadata, columns, rowStart, rowEnd })
    })
    yield* recordsOf(data, { source, columns, rowStart, rowEnd })
    rowStart = rowEnd
  }
}

interface GroupCheck {
  readonly group: FileMetaData['row_groups'][number]
  readonly tree: SchemaTree
  readonly name: string
}

async function checkGroup(file: FileBuffer, { group, tree, name }: GroupCheck): Promise<void> {
  const budget = { bytes: MAX_GROUP_BYTES, values: MAX_GROUP_VALUES }
  for (const { meta_data: column, file_path: path } of group.columns) {
    if (column === undefined || path !== undefined) {
      throw new ValidationError(
        `${name}: parts of the file are in other files, or encrypted; that is not read`,
        'unreadable_file',
      )
    }
    const start = Number(column.dictionary_page_offset ?? column.data_page_offset)
    const chunk = await file.slice(start, start + Number(column.total_compressed_size))
    await aboutColumn(name, column.path_in_schema, () =>
      checkPages(chunk, column, { name, budget, levels: levelsOf(tree, column.path_in_schema) }),
    )
  }
}

interface GroupRange {
  readonly rowStart: number
  readonly rowEnd: number
}

async function readColumns(
  file: FileBuffer,
  range: GroupRange & {
    readonly name: string
    readonly metadata: FileMetaData
    readonly columns: readonly SchemaTree[]
  },
): Promise<DecodedArray[]> {
  const { name, metadata, columns, rowStart, rowEnd } = range
  if (rowStart === rowEnd) return columns.map(() => [])
  // One buffer for each row group: it caches what it has read.
  const scan = await parquetScan({
    file,
    metadata,
    compressors: COMPRESSORS,
    parsers: PARSERS,
    geoparquet: false,
    useOffsetIndex: false,
    // Byte arrays that the file does not declare as text stay bytes.
    utf8: false,
  })
  const data: DecodedArray[] = []
  for (const { element } of columns) {
    const column = element.name
    data.push(await aboutColumn(name, [column], () => scan.readColumn({ column, rowStart, rowEnd })))
  }
  return data
}

function levelsOf(tree: SchemaTree, path: readonly string[]): LevelsOfColumn {
  const elements = getTreePath(tree, [...path])
  return {
    repetition: getMaxRepetitionLevel(elements) > 0,
    definition: getMaxDefinitionLevel(elements) > 0,
  }
}

function* recordsOf(
  data: readonly DecodedArray[],
  { source, columns, rowStart, rowEnd }: GroupRange & { source: FileSource; columns: readonly SchemaTree[] },
): Generator<readonly RawRecord[]> {
  const names = columns.map(({ element }) => element.name)
  const batch = new Batch()
  for (let row = 0; row < rowEnd - rowStart; row += 1) {
    const at = rowStart + row + 1
    const cells = columns.map((column, index) =>
      cellOf(data[index]?.[row], column, `${source.name}, record ${at}`),
    )
    const size = cells.reduce<number>((sum, cell) => sum + sizeOf(cell), 0)
    if (size > MAX_RECORD_SIZE) throw tooLargeRecord(`${source.name}, record ${at}`)
    batch.add({ values: valuesOf(names, cells), at }, size)
    if (batch.isFull) yield batch.take()
  }
  if (!batch.isEmpty) yield batch.take()
}

function cellOf(value: unknown, column: SchemaTree, place: string): JsonValue {
  try {
    return jsonOf(value, column)
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    throw new ValidationError(
      `${place}, field ${JSON.stringify(column.element.name)}: not JSON: ${fault}`,
      'unreadable_file',
    )
  }
}

function sizeOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  return Array.isArray(value)
    ? value.reduce<number>((sum, item: JsonValue) => sum + sizeOf(item), 2)
    : Object.entries(value).reduce<number>((sum, [key, item]) => sum + key.length + sizeOf(item), 2)
}

/** Adds the column to the errors of the library. */
async function aboutColumn<T>(name: string, path: readonly string[], read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ServiceError) throw error
    const fault = error instanceof Error ? error.message : String(error)
    throw new ValidationError(
      `${name}, column ${showValue(path.join('.'))}: it cannot be read as Parquet: ${fault}`,
      'unreadable_file',
    )
  }
}

/** Opens the file while it is read, and converts errors of the library to errors of the file. */
async function withFile<T>(source: FileSource, read: (file: FileBuffer) => Promise<T>): Promise<T> {
  let file: FileBuffer
  try {
    file = await FileBuffer.open(source.path, source.name)
  } catch (error) {
    throw asSourceError(error, source.name)
  }
  try {
    return await read(file)
  } catch (error) {
    if (error instanceof ServiceError) throw error
    const fault = error instanceof Error ? error.message : String(error)
    throw new ValidationError(
      `${source.name}: the file cannot be read as Parquet: ${fault}`,
      'unreadable_file',
    )
  } finally {
    await file.close()
  }
}
