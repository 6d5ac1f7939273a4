import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { SheetError, ValidationError } from '../../errors/service-error.ts'
import type { FileSource } from './raw-records.ts'

/** The size of a file in bytes. Throws SheetError where there is none, ValidationError for a directory. */
export async function sizeOfFile({ path, name }: FileSource): Promise<number> {
  let stats: Stats
  try {
    stats = await stat(path)
  } catch (error) {
    throw asSourceError(error, name)
  }
  if (stats.isDirectory())
    throw new ValidationError(`${name} is a directory; name a file in it`, 'unreadable_file')
  return stats.size
}

/** What keeps a file from being read, as an error for whoever named it. Anything else is a bug, and stays what it is. */
export function asSourceError(error: unknown, name: string): unknown {
  const code = (error as { code?: unknown }).code
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new SheetError(`${name}: no such file`, 'unknown_file')
    case 'EACCES':
    case 'EPERM':
      return new ValidationError(`${name}: the file may not be read by this user`, 'unreadable_file')
    case 'EISDIR':
      return new ValidationError(`${name} is a directory; name a file in it`, 'unreadable_file')
    default:
      return error
  }
}
