import { accessSync, constants, readdirSync, realpathSync, statSync, type Dirent } from 'node:fs'
import { join, resolve } from 'node:path'
import { ContractError, fileError, SheetError } from '../../errors/service-error.ts'
import type { FolioFiles } from '../../files/folio/folio-hash.ts'
import { lookAtFile, readSheetFile, SheetFileError } from '../../store/sheet-files/sheet-paths.ts'

/** The maximum size of a file of a folio sheet, in bytes: it is read as a whole. */
export const MAX_BYTES = 256 * 1024 * 1024

/** The most files that are copied. */
const MAX_FILES = 10_000

/** The message about a file that {@link FolioSource.fileToCopy} does not return. */
export const NOT_COPIED = 'the file is not copied: it cannot be read, or is too large'

/** Names that folio itself does not take into archives. */
const IGNORED = /^(?:__pycache__|node_modules|.*\.pyc)$/

/** A file of a folio sheet that cannot be read or copied. */
export interface UnreadableFile {
  readonly path: string
  readonly reason: string
}

/**
 * The directory of a folio sheet, which is only read. It may come from an untrusted source: nothing outside of it is read, other than the records of
 * sheets in its parent directory.
 */
export class FolioSource implements FolioFiles {
  readonly directory: string
  readonly #foreign = new Map<string, Uint8Array | null>()
  readonly #read = new Map<string, Uint8Array | null>()

  /** Throws SheetError for a directory that does not exist or has no `contract.yaml`. */
  constructor(path: string) {
    this.directory = realDirectory(path)
    if (this.read('contract.yaml') === null) {
      throw new SheetError(`${path} has no contract.yaml, so that it is no sheet`, 'not_a_sheet')
    }
  }

  /** Returns a file; null if it does not exist. Throws ContractError for one that cannot be read. */
  file(path: string): Uint8Array | null {
    return readSheetFile(
      { directory: this.directory, path: join(this.directory, path), name: path },
      (bytes) => {
        if (bytes <= MAX_BYTES) return
        const message = `is larger than ${MAX_BYTES / 1024 / 1024} MiB; make it smaller`
        throw new ContractError(...fileError({ file: path, line: null, message }, 'definition_too_large'))
      },
    )
  }

  /** Whether a file is there and can be read as a whole; it is not read. */
  canRead(path: string): boolean {
    try {
      const found = lookAtFile({ directory: this.directory, path: join(this.directory, path), name: path })
      if (found === null || found.stats.size > MAX_BYTES) return false
      accessSync(found.realPath, constants.R_OK)
      return true
    } catch (error) {
      if (error instanceof ContractError || hasCode(error)) return false
      throw error
    }
  }

  /** Returns a file, which is kept in memory; null if it does not exist or cannot be read. */
  read(path: string): Uint8Array | null {
    const known = this.#read.get(path)
    if (known !== undefined) return known
    const bytes = readable(() => (path === '' ? null : this.file(path)))
    this.#read.set(path, bytes)
    return bytes
  }

  /** Returns a file to copy, which is not kept in memory; null if it does not exist, cannot be read, or is too large. */
  fileToCopy(path: string): Uint8Array | null {
    return readable(() => this.file(path))
  }

  foreignRecords(sheet: string): Uint8Array | null {
    const known = this.#foreign.get(sheet)
    if (known !== undefined) return known
    const parent = resolve(this.directory, '..')
    const path = join(this.directory, sheet, 'records.jsonl')
    const bytes = readable(() =>
      readSheetFile({ directory: parent, path, name: 'records.jsonl' }, (size) => {
        if (size > MAX_BYTES) throw new ContractError(`records.jsonl of ${sheet} is too large`)
      }),
    )
    this.#foreign.set(sheet, bytes)
    return bytes
  }

  /** Returns the derivation files, by name. Throws ContractError for a folder that cannot be read. */
  derivations(): readonly string[] {
    const unreadable = (code: string): never => {
      throw new SheetFileError('derivations', `cannot be read (${code}); make it a folder that you may read`)
    }
    return this.#entries('derivations', unreadable)
      .map(({ name }) => name)
      .filter((name) => name.endsWith('.yaml') && !name.startsWith('.'))
  }

  /** Returns all other files, by path, and those that are not copied. */
  others(): { readonly files: readonly string[]; readonly left: readonly UnreadableFile[] } {
    const derivations = new Set(this.derivations().map((name) => `derivations/${name}`))
    const own = new Set(['contract.yaml', 'records.jsonl', 'provenance.jsonl', ...derivations])
    const files: string[] = []
    const left: UnreadableFile[] = []
    const walk = (folder: string): void => {
      const unreadable = (code: string): void => {
        left.push({ path: folder === '' ? '.' : folder, reason: `the folder cannot be read (${code})` })
      }
      for (const entry of this.#entries(folder, unreadable)) {
        const { name } = entry
        const path = folder === '' ? name : `${folder}/${name}`
        if (own.has(path) || IGNORED.test(name) || name === '.lock') continue
        if (name.startsWith('.')) left.push({ path, reason: 'its name is hidden' })
        else if (entry.isDirectory()) walk(path)
        else if (!entry.isFile()) left.push({ path, reason: 'it is a link or no regular file' })
        else if (files.length === MAX_FILES)
          left.push({ path, reason: `there are more than ${MAX_FILES} files` })
        else files.push(path)
      }
    }
    walk('')
    return { files, left }
  }

  /** Returns the entries of a folder: none if it is missing, or unreadable, which calls `unreadable`. */
  #entries(folder: string, unreadable: (code: string) => void): readonly Dirent[] {
    try {
      return readdirSync(join(this.directory, folder), { withFileTypes: true }).toSorted((a, b) =>
        a.name < b.name ? -1 : 1,
      )
    } catch (error) {
      if (!hasCode(error)) throw error
      if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') unreadable(error.code)
      return []
    }
  }
}

function hasCode(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}

function realDirectory(path: string): string {
  try {
    const directory = realpathSync.native(resolve(path))
    if (statSync(directory).isDirectory()) return directory
  } catch {
    // The error below says the same.
  }
  throw new SheetError(`${path} is not a directory`, 'not_a_sheet')
}

function readable(read: () => Uint8Array | null): Uint8Array | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof ContractError) return null
    throw error
  }
}
