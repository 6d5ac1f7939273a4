import type { ColumnMetaData } from 'hyparquet'
import { decompressPage } from 'hyparquet/src/datapage.js'
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js'
import { readVarInt } from 'hyparquet/src/thrift.js'
import type { DataReader, PageHeader } from 'hyparquet/src/types.js'
import { COMPRESSORS } from './parquet-codecs.ts'

/** Whether the column has levels of each kind before the values of a page. */
export interface LevelsOfColumn {
  readonly repetition: boolean
  readonly definition: boolean
}

/**
 * Returns the number of bytes of the values of a page in DELTA_BYTE_ARRAY, without decoding them: each value can
 * repeat the previous one, so that a small page can decode to gigabytes. Throws for a damaged page.
 */
export function deltaByteArrayBytes(
  page: Uint8Array,
  header: PageHeader,
  column: { readonly codec: ColumnMetaData['codec']; readonly levels: LevelsOfColumn },
): number {
  const reader = valuesOf(page, header, column)
  const most = (header.data_page_header ?? header.data_page_header_v2)?.num_values ?? 0
  let bytes = 0
  // The lengths of repeated prefixes precede the lengths of new suffixes.
  for (const _part of ['prefixes', 'suffixes']) {
    const count = countOf(reader)
    if (count > most) throw new Error('a page has more values than it states')
    if (count === 0) return 0
    const lengths = new Int32Array(count)
    deltaBinaryUnpack(reader, count, lengths)
    for (const length of lengths) {
      if (length < 0) throw new Error('a value has a negative length')
      bytes += length
    }
  }
  return bytes
}

/** Returns the values of a page, decompressed. */
function valuesOf(
  page: Uint8Array,
  header: PageHeader,
  { codec, levels }: { readonly codec: ColumnMetaData['codec']; readonly levels: LevelsOfColumn },
): DataReader {
  const v2 = header.data_page_header_v2
  if (v2 !== undefined) {
    const skipped = v2.repetition_levels_byte_length + v2.definition_levels_byte_length
    const packed = page.subarray(skipped)
    const size = header.uncompressed_page_size - skipped
    return readerOf(v2.is_compressed === false ? packed : decompressPage(packed, size, codec, COMPRESSORS))
  }
  const reader = readerOf(decompressPage(page, header.uncompressed_page_size, codec, COMPRESSORS))
  for (const present of [levels.repetition, levels.definition]) {
    if (present) reader.offset += 4 + reader.view.getUint32(reader.offset, true)
  }
  return reader
}

function readerOf({ buffer, byteOffset, byteLength }: Uint8Array): DataReader {
  return { view: new DataView(buffer, byteOffset, byteLength), offset: 0 }
}

/** Returns the number of values of a DELTA_BINARY_PACKED run by its header, without moving the reader. */
function countOf(reader: DataReader): number {
  const header = { ...reader }
  readVarInt(header)
  readVarInt(header)
  return readVarInt(header)
}
