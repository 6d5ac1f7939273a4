import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { FILE_FORMATS, type FileFormat } from '../../src/files/io/file-format.ts'
import type { FileSource } from '../../src/files/io/raw-records.ts'
import { exportRecords } from '../../src/sheet/transfer/export-records.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'

/** The formats of exports. */
export const EXPORTABLE = FILE_FORMATS

/** Exports all records of a sheet into a file. */
export async function exportTo(sheet: Sheet, format: FileFormat, directory: string): Promise<FileSource> {
  const { bytes } = await exportRecords(sheet, { format, fields: null, filter: null, sort: null, raw: false })
  const path = join(directory, `export.${format}`)
  await pipeline(bytes, createWriteStream(path))
  return { path, name: `export.${format}` }
}
