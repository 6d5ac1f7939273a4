import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { SheetError, ValidationError } from '../../errors/service-error.ts'
import type { FileSource } from './raw-records.ts'

/** Returns the size of a file in bytes. Throws SheetError if there is none, ValidationError for a directory. */
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

/** Converts a file system error to one for the user. Any other error is a bug and is returned unchanged. */
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
