import type { Readable } from 'node:stream'
import { inputFormatOf, type FileFormat } from '../../files/io/file-format.ts'
import { spool, type SpooledFile } from '../../files/io/spool.ts'

/** The input of a new sheet: records in a format, or the archive of a sheet. */
export type InputKind = FileFormat | 'archive'

/** Detects the kind of a file from its name; null when it is unknown. */
export function inputKind(path: string): InputKind | null {
  return path.toLowerCase().endsWith('.zip') ? 'archive' : inputFormatOf(path)
}

/** Stores a stream in a temporary file until it is removed, since the input of a new sheet is read more than once. */
export function spoolInput(stream: Readable): Promise<SpooledFile> {
  return spool(stream, 'standard input')
}
