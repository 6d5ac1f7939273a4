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
import { ContractError } from '../../errors/service-error.ts'

/**
 * A file of the sheet that is no file, or one of somebody else. Until it is mended the sheet's other files say nothing
 * of it, so that it has to be looked at again.
 */
export class SheetFileError extends ContractError {}

/** What there may be at a path of a sheet. */
export interface SheetPath {
  /** The sheet's directory, which may itself be reached through a link. */
  readonly directory: string
  readonly path: string
  /** What messages call it. */
  readonly name: string
}

/** What is at a path of a sheet, and where it really is. */
export interface SheetEntry {
  readonly realPath: string
  readonly stats: Stats
}

/**
 * Looks at a path of a sheet without opening it; null when nothing is there. A sheet may come from a stranger: throws
 * SheetFileError for a symbolic link that leads nowhere or out of the sheet's directory, so that nothing else of the
 * machine is read or written through it.
 */
export function lookAt({ directory, path, name }: SheetPath): SheetEntry | null {
  const own = examine(name, () => lstatSync(path, { throwIfNoEntry: false }))
  if (own === undefined) return null
  // A folder above the file may be the link, too.
  if (!own.isSymbolicLink() && dirname(path) === directory) return { realPath: path, stats: own }
  const realPath = realPathOf(path, name)
  if (
    !isInside(
      examine(name, () => realpathSync.native(directory)),
      realPath,
    )
  ) {
    throw new SheetFileError(
      `${name} is a symbolic link out of the sheet; put the file itself into the sheet's directory`,
    )
  }
  return { realPath, stats: examine(name, () => lstatSync(realPath)) }
}

/** As {@link lookAt}; throws SheetFileError, too, for what is no regular file, such as a directory or a pipe. */
export function lookAtFile(place: SheetPath): SheetEntry | null {
  const entry = lookAt(place)
  if (entry !== null) refuseNoFile(entry.stats, place.name)
  return entry
}

/**
 * The bytes of a file of a sheet; null when there is none. Never waits, whatever is there. Throws as
 * {@link lookAtFile}, and ContractError for a file that cannot be read; `checkSize` is asked before it is read.
 */
export function readSheetFile(place: SheetPath, checkSize: (bytes: number) => void): Buffer | null {
  const entry = lookAtFile(place)
  if (entry === null) return null
  const { name } = place
  return examine(name, () => {
    const fd = openSync(entry.realPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stats = fstatSync(fd)
      refuseNoFile(stats, name)
      checkSize(stats.size)
      return readAll(fd, stats.size)
    } finally {
      closeSync(fd)
    }
  })
}

/** Up to `size` bytes: one that grows meanwhile is looked at again. */
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

function refuseNoFile(stats: Stats, name: string): void {
  if (stats.isFile()) return
  throw new SheetFileError(
    `${name} is ${kindOf(stats)} and cannot be read; make it a file that the server may read`,
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
    throw new SheetFileError(`${name} is a symbolic link that leads nowhere; put the file itself there`)
  }
}

function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith(`..${sep}`)
}

/** Asks the file system; what it refuses is a SheetFileError that names the file and nothing of the machine. */
function examine<T>(name: string, ask: () => T): T {
  try {
    return ask()
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    throw new SheetFileError(`${name} cannot be read (${code}); make it a file that the server may read`)
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined
}

function rethrow(error: unknown): never {
  throw error
}
