import { once } from 'node:events'
import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import type { Field } from '../../contract/contract.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { parsePage, type RecordPages } from '../io/record-pages.ts'
import { cellXml } from './xlsx-cells.ts'
import { PARTS, SHEET_END, sheetStart } from './xlsx-parts.ts'

/** The most rows of a worksheet, with its header. */
export const MAX_ROWS = 1_048_576

/** The size beyond which the archive would need ZIP64, which some programs cannot read. */
const MAX_SHEET_BYTES = 0xff_ff_ff_ff - (1 << 20)

/** Prefers speed: the default level takes three times as long and saves a tenth. */
const COMPRESSION = 3

/**
 * Writes the records as an XLSX workbook of one worksheet, with a header of field names. Texts are never formulas.
 * Throws ValidationError for more records than a worksheet has rows, and for a text that is too long for a cell.
 */
export async function* writeXlsx(fields: readonly Field[], pages: RecordPages): AsyncGenerator<Uint8Array> {
  const rows = sheetXml(fields, pages)
  // Read before the archive begins: an error of the first records then precedes its first byte.
  const first = await rows.next()
  const sheet = Readable.from(after(first, rows), { objectMode: false, highWaterMark: 1 << 20 })
  const zip = new ZipFile()
  const output = readable(zip.outputStream)
  // An error must end the archive, which would otherwise wait for the rest of the worksheet for ever.
  for (const source of [sheet, zip]) source.on('error', (error: Error) => output.destroy(error))
  for (const [name, xml] of PARTS) zip.addBuffer(Buffer.from(xml), name, { mtime: EPOCH })
  zip.addReadStream(sheet, 'xl/worksheets/sheet1.xml', { mtime: EPOCH, compressionLevel: COMPRESSION })
  zip.end()
  try {
    for await (const chunk of output) yield chunk as Uint8Array
  } finally {
    if (!sheet.destroyed) {
      sheet.destroy()
      await once(sheet, 'close')
    }
  }
}

/** Corrects the type of a stream: the library declares less than it returns. */
function readable(stream: NodeJS.ReadableStream): Readable {
  if (!(stream instanceof Readable)) throw new Error('an archive is written to something that is no stream')
  return stream
}

/** A fixed time: equal contents make equal files. */
const EPOCH = new Date(1980, 0, 1)

async function* after<T>(first: IteratorResult<T>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  if (first.done !== true) yield first.value
  yield* rest
}

async function* sheetXml(fields: readonly Field[], pages: RecordPages): AsyncGenerator<Buffer> {
  let rows = 1
  let before = sheetStart(fields)
  let size = 0
  for await (const page of pages) {
    const records = parsePage(page)
    const xml = records.map((record, index) => rowXml(fields, record, rows + index + 1)).join('')
    const bytes = Buffer.from(before + xml)
    before = ''
    rows += records.length
    size += bytes.length
    if (rows > MAX_ROWS) {
      throw new ValidationError(
        `an XLSX worksheet has ${(MAX_ROWS - 1).toLocaleString('en')} rows for records, and there are more; ` +
          'export a part with a filter, or as csv or parquet',
        'not_exportable',
      )
    }
    if (size > MAX_SHEET_BYTES) {
      throw new ValidationError(
        'the records are too large for an XLSX worksheet; export them as csv or parquet',
        'not_exportable',
      )
    }
    if (bytes.length > 0) yield bytes
  }
  yield Buffer.from(before + SHEET_END)
}

function rowXml(fields: readonly Field[], record: JsonObject, row: number): string {
  let cells = ''
  for (const [column, field] of fields.entries()) {
    const value = record[field.name] ?? null
    if (value === null) continue
    const { xml, tooLong } = cellXml(field, value, { row, column })
    if (tooLong !== null) {
      const id = record['id'] === undefined ? `row ${row}` : `record ${showValue(record['id'])}`
      throw new ValidationError(
        `${id}, field ${field.name}: the text has ${tooLong} characters, and an XLSX cell holds 32,767; ` +
          'leave the field out with fields, or export as csv, ndjson or parquet',
        'not_exportable',
      )
    }
    cells += xml
  }
  return `<row r="${row}">${cells}</row>`
}
