import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { OperationError } from '../../errors/service-error.ts'
import { systemCode } from '../../errors/system-code.ts'

/**
 * Writes a file atomically: it replaces an earlier one only once all its bytes are on disk. Throws OperationError when
 * it cannot be written, and errors of the bytes unchanged.
 */
export async function writeWholeFile(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const partial = `${path}.part-${process.pid}`
  try {
    await pipeline(bytes, createWriteStream(partial, { flags: 'wx', flush: true }))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined)
    throw asFileError(error, path)
  }
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'the directory does not exist',
  ENOTDIR: 'the directory does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EISDIR: 'that is a directory',
  EEXIST: 'another export to this file is running',
}

function asFileError(error: unknown, path: string): unknown {
  const fault = FAULTS[systemCode(error) ?? '']
  return fault === undefined
    ? error
    : new OperationError(`${path} cannot be written: ${fault}`, 'output_failed')
}
