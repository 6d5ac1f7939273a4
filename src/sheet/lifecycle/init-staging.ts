import { randomBytes } from 'node:crypto'
import { lstatSync, statSync } from 'node:fs'
import { link, lstat, mkdir, open, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { SheetError } from '../../errors/service-error.ts'

/** What a sheet may have in its directory (D1), and what a store leaves beside itself. */
const OWN = [
  'contract.yaml',
  'derivations',
  'transport.yaml',
  'records.jsonl',
  'provenance.jsonl',
  'sheet.db',
  'sheet.db-wal',
  'sheet.db-shm',
  'sheet.db-journal',
  'sheet.db-lock',
]

/** Comes last: without it, a directory is no sheet, whatever else a crash leaves there. */
const LAST = 'contract.yaml'

/** Kept as it is where there is one already. */
const OPTIONAL: ReadonlySet<string> = new Set(['.gitignore'])

/**
 * Makes a sheet's directory all at once: `fill` makes the files in a directory of its own, and only when it is done they
 * come to where they belong. What is there already stays as it is. When anything fails, nothing is left behind. Throws
 * SheetError where a file of a sheet is in the way, or the directory cannot be made.
 */
export async function stageSheet<T>(path: string, fill: (staging: string) => Promise<T>): Promise<T> {
  const directory = resolve(path)
  const exists = isFree(path, directory)
  const made = exists ? null : await makeParents(path, directory)
  const staging = exists
    ? join(directory, `.colophon-init-${mark()}`)
    : join(dirname(directory), `.${basename(directory)}.init-${mark()}`)
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

/** Throws SheetError where a sheet cannot be made at a path; to be asked before much work is done for it. */
export function checkFree(path: string): void {
  isFree(path, resolve(path))
}

/** Whether there is a directory; throws where something is in the way. */
function isFree(path: string, directory: string): boolean {
  const stats = lstatSync(directory, { throwIfNoEntry: false })
  if (stats === undefined) return false
  if (!stats.isDirectory() && !isDirectoryBehindLink(directory)) {
    throw new SheetError(
      `${path} is there already, and is not a directory; choose another name`,
      'path_exists',
    )
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

/** Makes the directories above; answers with the topmost that was not there, null when all were. */
async function makeParents(path: string, directory: string): Promise<string | null> {
  return (await onDisk(path, () => mkdir(dirname(directory), { recursive: true }))) ?? null
}

/** Removes the directories that were made, from the lowest up, for as long as nobody has put anything into them. */
async function removeEmpty(lowest: string, topmost: string): Promise<void> {
  for (let path = lowest; path.length >= topmost.length; path = dirname(path)) {
    try {
      await rmdir(path)
    } catch {
      return
    }
  }
}

/** Moves what is in a directory into another, overwriting nothing; when it cannot be finished, it is undone. */
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
    // Takes the place of an empty directory at most.
    await rename(from, to)
    return
  }
  try {
    // Unlike a rename, a link never takes the place of a file that has come there meanwhile.
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

/** Makes files and directory durable before they count. */
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

/** Does something with the file system; what that refuses is a SheetError that names the path as it was given. */
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

function mark(): string {
  return randomBytes(6).toString('hex')
}
