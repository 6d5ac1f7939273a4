import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import { dirname, relative, sep } from 'node:path'
import { ContractError, fileError } from '../../errors/service-error.ts'

/**
 * A path of the sheet that is not a regular file, or is outside the sheet. Change detection does not cover the causes,
 * so that it has to be checked again on every request.
 */
export class SheetFileError extends ContractError {
  constructor(file: string, message: string) {
    super(...fileError({ file, line: null, message }, 'invalid_sheet_file'))
  }
}

/** A path of a sheet, which may not exist. */
export interface SheetPath {
  /** The sheet's directory, which may be reached through a link. */
  readonly directory: string
  readonly path: string
  /** The name in error messages. */
  readonly name: string
}

/** An entry of the file system, and its path with links resolved. */
export interface SheetEntry {
  readonly realPath: string
  readonly stats: Stats
}

/**
 * Returns what is at a path of a sheet without opening it; null when nothing is there. A sheet may come from an
 * untrusted source: throws SheetFileError for a symbolic link that leads nowhere or out of the sheet's directory, so
 * that no other file of the machine is read or written.
 */
export function lookAt({ directory, path, name }: SheetPath): SheetEntry | null {
  const own = examine(name, () => lstatSync(path, { throwIfNoEntry: false }))
  if (own === undefined) return null
  // A folder above the file may be a link, too.
  if (!own.isSymbolicLink() && dirname(path) === directory) return { realPath: path, stats: own }
  const realPath = realPathOf(path, name)
  if (
    !isInside(
      examine(name, () => realpathSync.native(directory)),
      realPath,
    )
  ) {
    throw new SheetFileError(
      name,
      `is a symbolic link out of the sheet; put the file itself into the sheet's directory`,
    )
  }
  return { realPath, stats: examine(name, () => lstatSync(realPath)) }
}

/**
 * Returns the file at a path. Throws as {@link lookAt}, and SheetFileError for what is not a regular file, such as a
 * directory or a pipe.
 */
export function lookAtFile(place: SheetPath): SheetEntry | null {
  const entry = lookAt(place)
  if (entry !== null) requireRegularFile(entry.stats, place.name)
  return entry
}

/**
 * Reads a file of a sheet; null when it does not exist. Never blocks, not even on a pipe. Calls `checkSize` before
 * reading. Throws as {@link lookAtFile}, and ContractError for a file that cannot be read.
 */
export function readSheetFile(place: SheetPath, checkSize: (bytes: number) => void): Buffer | null {
  const entry = lookAtFile(place)
  if (entry === null) return null
  const { name } = place
  return examine(name, () => {
    const fd = openSync(entry.realPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stats = fstatSync(fd)
      requireRegularFile(stats, name)
      checkSize(stats.size)
      return readAll(fd, stats.size)
    } finally {
      closeSync(fd)
    }
  })
}

/** Reads up to `size` bytes. A file that grows meanwhile is read again after the next check. */
function readAll(fd: number, size: number): Buffer {
  const bytes = Buffer.alloc(size)
  let length = 0
  while (length < size) {
    const read = readSync(fd, bytes, length, size - length, length)
    if (read === 0) break
    length += read
  }
  return bytes.subarray(0, length)
}

function requireRegularFile(stats: Stats, name: string): void {
  if (stats.isFile()) return
  throw new SheetFileError(
    name,
    `is ${kindOf(stats)} and cannot be read; make it a file that the server may read`,
  )
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory'
  if (stats.isFIFO()) return 'a pipe'
  return stats.isSocket() ? 'a socket' : 'a device'
}

function realPathOf(path: string, name: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return examine(name, () => rethrow(error))
    throw new SheetFileError(name, 'is a symbolic link that leads nowhere; put the file itself there')
  }
}

function isInside(directory: string, path: string): boolean {
  const steps = relative(directory, path)
  return steps !== '..' && !steps.startsWith(`..${sep}`)
}

/**
 * Runs a call of the file system. Its errors become a SheetFileError that names the file, and no path of this machine.
 */
function examine<T>(name: string, call: () => T): T {
  try {
    return call()
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    throw new SheetFileError(name, `cannot be read (${code}); make it a file that the server may read`)
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined
}

function rethrow(error: unknown): never {
  throw error
}
