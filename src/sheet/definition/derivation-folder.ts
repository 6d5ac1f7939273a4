import { opendirSync, type Dir } from 'node:fs'
import { join } from 'node:path'
import { MAX_FIELDS } from '../../contract/odcs/parse-contract.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { tokensOf, MAX_TOKENS, tooManyTokens } from '../../contract/yaml/yaml-limits.ts'
import type { DerivationSource } from '../../derivation/parse-derivation.ts'
import { ContractError } from '../../errors/service-error.ts'
import { FileStamp } from './file-stamp.ts'
import { lookAt, SheetFileError } from '../../store/sheet-files/sheet-paths.ts'
import { TextFile } from './text-file.ts'

const FOLDER = 'derivations'

/**
 * The maximum size of all files together, in bytes. Long texts cost little to parse, and tokens have a limit of their
 * own.
 */
export const MAX_FOLDER_BYTES = 8 * 1024 * 1024

/** The most files: each derivation has a target, and a field has one derivation. */
const MAX_FILES = MAX_FIELDS

/** The most entries of any name, since a longer folder takes too long to list. */
const MAX_ENTRIES = 10_000

/** The files of `derivations/` (D1), which may be edited, added and removed at any time. */
export class DerivationFolder {
  readonly #directory: string
  readonly #stamp: FileStamp
  #files: ReadonlyMap<string, TextFile> | null = null
  /** The error of listing the folder. */
  #listFault: ContractError | null = null
  #sizeFault: ContractError | null = null

  constructor(directory: string) {
    this.#directory = directory
    this.#stamp = new FileStamp(join(directory, FOLDER))
  }

  /** Reads what changed of folder and files; true when anything did, and the first time. */
  refresh(): boolean {
    const before = this.#fault()?.message
    const otherNames = this.#stamp.mayDiffer() && this.#list()
    const otherFiles = this.#refreshFiles()
    return otherNames || otherFiles || this.#fault()?.message !== before
  }

  /** Returns the files as last read, sorted by name. Throws ContractError. */
  sources(): readonly DerivationSource[] {
    const fault = this.#fault()
    if (fault !== null) throw fault
    const sources = [...(this.#files ?? [])].flatMap(([file, { bytes }]) =>
      bytes === null ? [] : [{ file, bytes }],
    )
    checkTokens(sources)
    return sources
  }

  #fault(): ContractError | null {
    return this.#listFault ?? this.#sizeFault
  }

  /** Lists the folder; true when its files have other names than before, and the first time. */
  #list(): boolean {
    const before = this.#files
    const names = this.#names()
    this.#files = new Map(
      names.map((name) => [name, before?.get(name) ?? new TextFile(this.#directory, `${FOLDER}/${name}`)]),
    )
    return before === null || [...before.keys()].join('/') !== names.join('/')
  }

  #names(): readonly string[] {
    this.#listFault = null
    try {
      return namesIn(this.#directory)
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      this.#listFault = error
      // The folder's modification time does not show why it cannot be read.
      if (error instanceof SheetFileError) this.#stamp.invalidate()
      return []
    }
  }

  /** Reads what changed of the files, up to the size limit; true when anything did. */
  #refreshFiles(): boolean {
    let changed = false
    let bytes = 0
    this.#sizeFault = null
    for (const file of this.#files?.values() ?? []) {
      changed = file.refresh() || changed
      bytes += file.size
      this.#sizeFault = folderSizeFault(bytes)
      if (this.#sizeFault !== null) break
    }
    return changed
  }
}

/** Throws ContractError for more files, bytes or tokens than all files of the folder together may have. */
export function checkFolder(sources: readonly DerivationSource[]): void {
  checkFileCount(sources.length)
  const fault = folderSizeFault(sources.reduce((sum, { bytes }) => sum + bytes.length, 0))
  if (fault !== null) throw fault
  checkTokens(sources)
}

function checkFileCount(count: number): void {
  if (count <= MAX_FILES) return
  throw new ContractError(
    `${FOLDER}: ${count} files; a sheet has at most ${MAX_FILES} derivations`,
    'definition_too_large',
  )
}

function folderSizeFault(bytes: number): ContractError | null {
  if (bytes <= MAX_FOLDER_BYTES) return null
  return new ContractError(
    `${FOLDER}: the files are together larger than ${MAX_FOLDER_BYTES / 1024 / 1024} MiB; make them smaller`,
    'definition_too_large',
  )
}

/** Limits the tokens of all files together, since many short files cost as much to parse as a long one. */
function checkTokens(sources: readonly DerivationSource[]): void {
  let tokens = 0
  for (const { file, bytes } of sources) {
    tokens += tokensOf(Buffer.from(bytes).toString(), `${FOLDER}/${file}`).length
    if (tokens > MAX_TOKENS)
      throw new ContractError(`${FOLDER}: the files have together ${tooManyTokens()}`, 'definition_too_large')
  }
}

/** Lists the names of `*.yaml`, without hidden files, as in a shell (D1). */
function namesIn(directory: string): readonly string[] {
  const entry = lookAt({ directory, path: join(directory, FOLDER), name: FOLDER })
  if (entry === null) return []
  if (!entry.stats.isDirectory()) {
    throw new SheetFileError(FOLDER, 'is not a folder; make it one, with a file for each derivation')
  }
  const names = entriesOf(entry.realPath).filter((name) => name.endsWith('.yaml') && !name.startsWith('.'))
  checkFileCount(names.length)
  for (const name of names) refuseName(name)
  return names.toSorted()
}

/**
 * Refuses names that are not UTF-8, which Node.js decodes to U+FFFD and which then find no file, and control
 * characters.
 */
function refuseName(name: string): void {
  if (!/[\p{Cc}\uFFFD]/u.test(name)) return
  throw new ContractError(
    `${FOLDER}: the file name ${showValue(name)} has a control character or is not UTF-8; rename the file`,
  )
}

function entriesOf(path: string): readonly string[] {
  let folder: Dir | undefined
  try {
    folder = opendirSync(path)
    const names: string[] = []
    for (let next = folder.readSync(); next !== null; next = folder.readSync()) {
      names.push(next.name)
      if (names.length > MAX_ENTRIES) {
        throw new ContractError(
          `${FOLDER}: more than ${MAX_ENTRIES} files; move away those that are no derivations`,
          'definition_too_large',
        )
      }
    }
    return names
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error
    if (error.code === 'ENOENT') return []
    throw new SheetFileError(FOLDER, `cannot be read (${String(error.code)}); let the server read it`)
  } finally {
    folder?.closeSync()
  }
}
