import { createHash } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { checkFileSize } from '../../contract/yaml/yaml-limits.ts'
import { OperationError } from '../../errors/service-error.ts'
import { adviceFor, systemCode } from '../../errors/system-code.ts'
import type { BaseFile, ChangedFile } from '../definition-change.ts'
import { readSheetFile, SheetFileError } from './sheet-paths.ts'

/** The paths that a change may write: nothing else of a directory, whatever a store from an untrusted source has. */
const DEFINITION = /^(?:contract\.yaml|derivations\/(?!\.)[^/\\\p{Cc}\uFFFD]+\.yaml)$/u

/** The paths of prompts, which a change may only edit. */
const PROMPT = /^(?:(?!\.)[^/\\\p{Cc}\uFFFD]+\/)*(?!\.)[^/\\\p{Cc}\uFFFD]+\.md$/iu

const CONTRACT = 'contract.yaml'
const FOLDER = 'derivations'

/** The permissions of a new file, before those that the process removes. */
const NEW_MODE = 0o666

/**
 * Writes the definition files of a sheet's directory as the store has them after a change. The table of changes is the durable
 * copy: files are prepared before the commit and renamed after it, and a store that finds a change pending repeats that.
 */
export class DefinitionMirror {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /**
   * Returns the path of the first file that is not as it was when the definition was read, or that was not there; null if all
   * are the same.
   */
  firstDifference(base: readonly BaseFile[]): string | null {
    const different = base.find(({ path, sha256 }) => {
      const bytes = this.#read(path)
      return (bytes === null ? null : createHash('sha256').update(bytes).digest('hex')) !== sha256
    })
    if (different !== undefined) return different.path
    const known = new Set(base.map(({ path }) => path))
    return this.#derivations().find((path) => !known.has(path)) ?? null
  }

  /** Throws what {@link prepare} would throw for a link and for a folder that cannot be written. Writes nothing. */
  check(files: readonly ChangedFile[]): void {
    for (const { path } of files) this.#check(path)
  }

  /**
   * Writes the new files beside the present ones, on the disk. Throws OperationError where the directory cannot be written, and
   * SheetFileError for a link.
   */
  prepare(files: readonly ChangedFile[]): void {
    try {
      for (const file of files) this.#prepare(file)
    } catch (error) {
      this.discard(files)
      throw error
    }
  }

  /** Removes what {@link prepare} wrote. What cannot be removed now is replaced by the next change of the file. */
  discard(files: readonly ChangedFile[]): void {
    for (const file of files) {
      if (!isWritable(file)) continue
      try {
        for (const path of [this.#prepared(file.path), this.#kept(file.path)]) rmSync(path, { force: true })
      } catch (error) {
        if (systemCode(error) === undefined) throw error
      }
    }
  }

  /**
   * Gives the files that still have the text before the text after. One with any other text was edited meanwhile, and stays.
   * Returns the paths of these. Throws as {@link prepare}.
   */
  settle(files: readonly ChangedFile[]): readonly string[] {
    const due = files.filter((file) => this.#isDue(file))
    // All are prepared before the first is renamed, so that readers find a mixture for as short as possible.
    for (const file of due) if (!this.#isPrepared(file)) this.#prepare(file)
    for (const file of due) this.#replace(file)
    // The folder of a new file may be new as well.
    const places = due.flatMap(({ path, before }) => [dirname(path), ...(before === null ? ['.'] : [])])
    for (const folder of new Set(places)) {
      onFile(folder, () => sync(join(this.#directory, folder)))
    }
    this.discard(files)
    return files
      .filter((file) => !isWritable(file) || !isSame(this.#read(file.path), file.after))
      .map(({ path }) => path)
  }

  /** Lists the derivation files, by the same rule as those that are read. */
  #derivations(): readonly string[] {
    const folder = join(this.#directory, FOLDER)
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return []
    return onFile(FOLDER, () => readdirSync(folder))
      .filter((name) => name.endsWith('.yaml') && !name.startsWith('.'))
      .map((name) => `${FOLDER}/${name}`)
  }

  /** Whether the file still has the text before. A store from an untrusted source may name any path. */
  #isDue(file: ChangedFile): boolean {
    const { path, before, after } = file
    if (!isWritable(file) || this.#linkOn(path) !== null) return false
    return isSame(this.#read(path), before) && !isSame(before, after)
  }

  /** Gives a file the text after, unless it has another text than before. */
  #replace({ path, before, after }: ChangedFile): void {
    const [target, prepared, kept] = [join(this.#directory, path), this.#prepared(path), this.#kept(path)]
    onFile(path, () => {
      // A link does not replace a file that an editor has created meanwhile.
      if (before === null && linkIfPossible(prepared, target) !== 'impossible') return
      // The second name keeps what an editor saves into the file until it is replaced.
      const isKept = before !== null && linkIfPossible(target, kept) === 'linked'
      if (!isSame(this.#read(path), before)) return
      if (after === null) rmSync(target)
      else renameSync(prepared, target)
      if (isKept && !isSame(readFileSync(kept), before)) renameSync(kept, target)
    })
  }

  #check(path: string): void {
    const link = this.#linkOn(path)
    if (link !== null) {
      throw new SheetFileError(
        link,
        'is a symbolic link, which the service does not change; change the file itself',
      )
    }
    const folder = dirname(join(this.#directory, path))
    onFile(path, () => {
      const isThere = lstatSync(folder, { throwIfNoEntry: false }) !== undefined
      accessSync(isThere ? folder : this.#directory, constants.W_OK)
    })
  }

  #prepare(file: ChangedFile): void {
    const { path, after } = file
    if (!isWritable(file)) throw new Error(`not a definition file: ${path}`)
    this.#check(path)
    if (after === null) return
    const target = join(this.#directory, path)
    onFile(path, () => {
      if (path !== CONTRACT) mkdirSync(dirname(target), { recursive: true })
      const prepared = this.#prepared(path)
      const mode = lstatSync(target, { throwIfNoEntry: false })?.mode
      rmSync(prepared, { force: true })
      // `wx` follows no link that somebody puts there.
      writeFileSync(prepared, after, { flag: 'wx', mode: NEW_MODE })
      if (mode !== undefined) chmodSync(prepared, mode & 0o7777)
      sync(prepared)
    })
  }

  #isPrepared({ path, after }: ChangedFile): boolean {
    const prepared = this.#prepared(path)
    return onFile(path, () => {
      const stats = lstatSync(prepared, { throwIfNoEntry: false })
      return stats?.isFile() === true && stats.size === after?.length && isSame(readFileSync(prepared), after)
    })
  }

  /** Returns the name of the first link on the way to a file; null for none. */
  #linkOn(path: string): string | null {
    const names = path.split('/').map((_, index, all) => all.slice(0, index + 1).join('/'))
    const isLink = (name: string): boolean =>
      onFile(name, () =>
        lstatSync(join(this.#directory, name), { throwIfNoEntry: false }),
      )?.isSymbolicLink() === true
    return names.find(isLink) ?? null
  }

  #prepared(path: string): string {
    return this.#beside(path, 'new')
  }

  #kept(path: string): string {
    return this.#beside(path, 'old')
  }

  /** The name does not end in `.yaml`, and is short, whatever that of the file is. */
  #beside(path: string, end: 'new' | 'old'): string {
    const name = createHash('sha256').update(path).digest('hex').slice(0, 16)
    return join(dirname(join(this.#directory, path)), `.colophon-${name}.${end}`)
  }

  #read(path: string): Uint8Array | null {
    const place = { directory: this.#directory, path: join(this.#directory, path), name: path }
    return readSheetFile(place, (bytes) => checkFileSize(bytes, path))
  }
}

function isWritable({ path, before, after }: ChangedFile): boolean {
  return DEFINITION.test(path) || (PROMPT.test(path) && before !== null && after !== null)
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0
}

/** Gives a file a second name. Some file systems cannot, and some systems allow it only for files of the same user. */
function linkIfPossible(file: string, name: string): 'linked' | 'exists' | 'impossible' {
  try {
    linkSync(file, name)
    return 'linked'
  } catch (error) {
    const code = systemCode(error)
    if (code === undefined) throw error
    return code === 'EEXIST' ? 'exists' : 'impossible'
  }
}

function sync(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Runs a call of the file system; its errors become an OperationError that names the file, and no path of this machine. */
function onFile<T>(name: string, call: () => T): T {
  try {
    return call()
  } catch (error) {
    const code = systemCode(error)
    if (code === undefined) throw error
    throw new OperationError(`${name} cannot be written (${code}); ${adviceFor(code)}`, 'output_failed')
  }
}
