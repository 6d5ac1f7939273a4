import { randomBytes } from 'node:crypto'
import { lstatSync, statSync } from 'node:fs'
import { link, lstat, mkdir, open, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { SheetError } from '../../errors/service-error.ts'

/** The files of a sheet (D1) and its store. */
const OWN = [
  'contract.yaml',
  'derivations',
  'transport.yaml',
  'records.jsonl',
  'provenance.jsonl',
  'checkpoints.txt',
  'sheet.db',
  'sheet.db-wal',
  'sheet.db-shm',
  'sheet.db-journal',
  'sheet.db-lock',
]

/** Moved last: without it, a directory is not a sheet, whatever else a crash leaves there. */
const LAST = 'contract.yaml'

/** Files that are kept if they exist already. */
const OPTIONAL: ReadonlySet<string> = new Set(['.gitignore'])

/**
 * Creates a sheet's directory atomically: `fill` writes the files into a staging directory, and they are moved when it
 * is done. Existing files stay. When anything fails, nothing is left behind. Throws SheetError when a file of a sheet
 * is in the way, or the directory cannot be created.
 */
export async function stageSheet<T>(path: string, fill: (staging: string) => Promise<T>): Promise<T> {
  const directory = resolve(path)
  const exists = isFree(path, directory)
  const made = exists ? null : await makeParents(path, directory)
  const staging = exists
    ? join(directory, `.colophon-init-${randomSuffix()}`)
    : join(dirname(directory), `.${basename(directory)}.init-${randomSuffix()}`)
  try {
    await onDisk(path, () => mkdir(staging))
    const result = await fill(staging)
    await syncAll(staging)
    await onDisk(path, () => (exists ? moveInto(staging, directory, path) : rename(staging, directory)))
    return result
  } catch (error) {
    await rm(staging, { recursive: true, force: true })
    if (made !== null) await removeEmpty(dirname(directory), made)
    throw error
  }
}

/** Throws SheetError when a sheet cannot be created at a path; call it before expensive work. */
export function checkFree(path: string): void {
  isFree(path, resolve(path))
}

/** Whether the directory exists. Throws SheetError when a file is in the way. */
function isFree(path: string, directory: string): boolean {
  const stats = lstatSync(directory, { throwIfNoEntry: false })
  if (stats === undefined) return false
  if (!stats.isDirectory() && !isDirectoryBehindLink(directory)) {
    throw new SheetError(`${path} exists and is not a directory; choose another name`, 'path_exists')
  }
  const taken = OWN.find((name) => lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined)
  if (taken === undefined) return true
  throw new SheetError(
    `${path} has a file ${taken} already, and nothing is overwritten; choose another directory, or move it away`,
    'path_exists',
  )
}

function isDirectoryBehindLink(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** Creates the parent directories. Returns the topmost that did not exist, null when all did. */
async function makeParents(path: string, directory: string): Promise<string | null> {
  return (await onDisk(path, () => mkdir(dirname(directory), { recursive: true }))) ?? null
}

/** Removes the created directories, from the lowest up, as long as they are empty. */
async function removeEmpty(lowest: string, topmost: string): Promise<void> {
  for (let path = lowest; path.length >= topmost.length; path = dirname(path)) {
    try {
      await rmdir(path)
    } catch {
      return
    }
  }
}

/** Moves the content of a directory into another, overwriting nothing; undoes it on failure. */
async function moveInto(staging: string, directory: string, path: string): Promise<void> {
  const names = (await readdir(staging)).toSorted((a, b) => Number(a === LAST) - Number(b === LAST))
  const moved: string[] = []
  try {
    for (const name of names) {
      const target = join(directory, name)
      if (OPTIONAL.has(name) && (await isThere(target))) continue
      await moveNew(join(staging, name), target, path)
      moved.push(target)
    }
  } catch (error) {
    for (const target of moved) await rm(target, { recursive: true, force: true })
    throw error
  }
  await rm(staging, { recursive: true, force: true })
}

async function moveNew(from: string, to: string, path: string): Promise<void> {
  if ((await lstat(from)).isDirectory()) {
    // Replaces an empty directory at most.
    await rename(from, to)
    return
  }
  try {
    // Unlike a rename, a link never replaces a file that was created meanwhile.
    await link(from, to)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') {
      throw new SheetError(
        `${path} has a file ${basename(to)} by now, and nothing is overwritten`,
        'path_exists',
      )
    }
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'ENOTSUP') throw error
    await rename(from, to)
    return
  }
  await unlink(from)
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null
}

/** Syncs files and directory to disk. */
async function syncAll(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    await sync(join(entry.parentPath, entry.name))
  }
  await sync(directory)
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Runs an operation of the file system. Its errors become a SheetError with the path as it was given. */
async function onDisk<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    throw new SheetError(`${path} cannot be made (${code})`, 'path_not_writable')
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined
}

function randomSuffix(): string {
  return randomBytes(6).toString('hex')
}
