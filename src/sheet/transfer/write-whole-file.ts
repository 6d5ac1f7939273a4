import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { OperationError } from '../../errors/service-error.ts'

/**
 * Writes a file that is there, in place of one that was there before, only once all its bytes are on the disk. Throws
 * OperationError where it cannot be written; what the bytes throw is thrown on.
 */
export async function writeWholeFile(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const building = `${path}.part-${process.pid}`
  try {
    await pipeline(bytes, createWriteStream(building, { flags: 'wx', flush: true }))
    await rename(building, path)
  } catch (error) {
    await rm(building, { force: true }).catch(() => undefined)
    throw asFileError(error, path)
  }
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  ENOTDIR: 'there is no such directory',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'nothing can be written there',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EISDIR: 'that is a directory',
  EEXIST: 'another export to it is under way',
}

function asFileError(error: unknown, path: string): unknown {
  const { code } = error as { code?: unknown }
  const fault = typeof code === 'string' ? FAULTS[code] : undefined
  return fault === undefined
    ? error
    : new OperationError(`${path} cannot be written: ${fault}`, 'output_failed')
}
