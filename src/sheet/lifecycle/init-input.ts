import type { Readable } from 'node:stream'
import { inputFormatOf, type FileFormat } from '../../files/io/file-format.ts'
import { spool, type SpooledFile } from '../../files/io/spool.ts'

/** What a new sheet can be made from: records in a format, or the archive of a sheet. */
export type InputKind = FileFormat | 'archive'

/** What a file is by its name, null when that says nothing. */
export function inputKind(path: string): InputKind | null {
  return path.toLowerCase().endsWith('.zip') ? 'archive' : inputFormatOf(path)
}

/** Keeps what a stream brings in a file until it is removed: a new sheet's input is read more than once. */
export function spoolInput(stream: Readable): Promise<SpooledFile> {
  return spool(stream, 'standard input')
}
