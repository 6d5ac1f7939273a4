import { createHash } from 'node:crypto'
import { createReadStream, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Source } from '../../derivation/definition/derivation-kind.ts'
import { sourceOf } from '../../derivation/read-sources.ts'
import { LockTimeoutError, RecordsError, ServiceError } from '../../errors/service-error.ts'
import { checkStoreFiles } from './check-store-files.ts'
import { FileStamp } from './file-stamp.ts'
import { withOtherStore } from './other-store.ts'
import { lookAtFile, type SheetEntry } from '../../store/sheet-files/sheet-paths.ts'

/** The maximum size in bytes of a file of records; the values that are kept have a bound of their own. */
const MAX_RECORDS_BYTES = 512 * 1024 * 1024

/** The files that show whether the records of a sheet have changed. */
const WATCHED = ['.', 'contract.yaml', 'sheet.db', 'sheet.db-wal', 'records.jsonl']

interface Watched {
  readonly stamps: readonly FileStamp[]
  /** The source that was read last; the same object while the records are the same. Null before the first read. */
  source: Source | null
  /** Whether it may have changed since it was read. */
  isOutdated: boolean
  /** Whether it is read again although no file has changed. */
  retries: boolean
}

/**
 * Other sheets within the parent directory of a sheet, which its derivations look into. They may come from an untrusted source, as the sheet
 * may: links out of the parent directory are refused, and no records, definitions or logs in them are changed; see {@link withOtherStore}.
 */
export class OtherSheets {
  readonly #directory: string
  #sheets = new Map<string, Watched>()

  constructor(directory: string) {
    this.#directory = resolve(directory)
  }

  /** Whether files of the sheets may have changed, by their times and sizes. */
  refresh(): boolean {
    let changed = false
    for (const sheet of this.#sheets.values()) {
      // All are asked, since each notes what it has seen.
      const differing = sheet.stamps.filter((stamp) => stamp.mayDiffer())
      if (differing.length === 0 && !sheet.retries) continue
      sheet.isOutdated = true
      changed = true
    }
    return changed
  }

  /** Returns a sheet; from then on {@link refresh} covers it. Never rejects because of the sheet, which then has a problem. */
  async sheet(path: string): Promise<Source> {
    const known = this.#sheets.get(path) ?? this.#watch(path)
    if (known.source !== null && !known.isOutdated) return known.source
    known.isOutdated = false
    known.retries = false
    const source = await this.#read(path, known)
    known.source = isSame(known.source, source) ? known.source : source
    return known.source
  }

  /** Forgets all sheets but these. */
  keep(paths: ReadonlySet<string>): void {
    this.#sheets = new Map([...this.#sheets].filter(([path]) => paths.has(path)))
  }

  #watch(path: string): Watched {
    const directory = join(this.#directory, path)
    const stamps = WATCHED.map((name) => new FileStamp(join(directory, name)))
    // What changes from here on is seen.
    for (const stamp of stamps) stamp.mayDiffer()
    const watched = { stamps, source: null, isOutdated: true, retries: false }
    this.#sheets.set(path, watched)
    return watched
  }

  async #read(path: string, known: Watched): Promise<Source> {
    const retry = (): void => void (known.retries = true)
    try {
      const directory = this.#directoryOf(path)
      const file = recordsOf(directory)
      const version =
        file === 'sheet.db'
          ? await withOtherStore(directory, ({ version: position }) => Promise.resolve(position))
          : await digestOf(join(directory, file))
      return {
        path,
        bytes: null,
        problem: '',
        version: `${file} ${version}`,
        sheet: { directory, file, retry },
      }
    } catch (error) {
      const problem = sheetProblem(path, error)
      if (isPassing(error)) {
        retry()
        // Cells stay as they are where a sheet cannot be read for a moment.
        if (known.source?.sheet !== undefined) return known.source
      }
      return sourceOf(path, { problem })
    }
  }

  /** Returns the directory of another sheet with links resolved. Throws RecordsError and errors of the file system. */
  #directoryOf(path: string): string {
    const own = realpathSync.native(this.#directory)
    const parent = realpathSync.native(dirname(this.#directory))
    const directory = realpathSync.native(join(this.#directory, path))
    const steps = relative(parent, directory)
    if (steps === '' || steps === '..' || steps.startsWith(`..${sep}`)) {
      throw new RecordsError(
        'it leads out of the directory that this sheet is in, by a symbolic link; put the sheet itself there',
      )
    }
    if (directory === own) throw new RecordsError('it is this sheet itself; name another one')
    return directory
  }
}

/** Returns the problem of a sheet that cannot be read, as text of a failure. Throws errors that are not about the sheet. */
export function sheetProblem(path: string, error: unknown): string {
  if (error instanceof ServiceError) return `${path} cannot be read: ${error.message}`
  const code = codeOf(error)
  if (code === null) throw error
  return code === 'ENOENT' || code === 'ENOTDIR'
    ? `${path} does not exist`
    : `${path} cannot be read (${code}); give the server read access`
}

/** Whether an error may be over without a change of the sheet's files. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ServiceError) return error instanceof LockTimeoutError
  return !['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'].includes(codeOf(error) ?? '')
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : null
}

/** Returns what has the records of a sheet. Throws RecordsError for a directory without any, SheetFileError as {@link checkStoreFiles}. */
function recordsOf(directory: string): 'sheet.db' | 'records.jsonl' {
  const entry = (name: string): SheetEntry | null =>
    lookAtFile({ directory, path: join(directory, name), name })
  if (entry('contract.yaml') === null) throw new RecordsError('it has no contract.yaml, so it is no sheet')
  checkStoreFiles(directory)
  if (entry('sheet.db') !== null) return 'sheet.db'
  const records = entry('records.jsonl')
  if (records === null) {
    throw new RecordsError('it has neither sheet.db nor records.jsonl; sheets in PostgreSQL cannot be read')
  }
  if (records.stats.size > MAX_RECORDS_BYTES) {
    throw new RecordsError(`its records.jsonl is larger than ${MAX_RECORDS_BYTES / 1024 / 1024} MiB`)
  }
  return 'records.jsonl'
}

async function digestOf(file: string): Promise<string> {
  const digest = createHash('sha256')
  for await (const bytes of createReadStream(file)) digest.update(bytes as Uint8Array)
  return digest.digest('hex')
}

function isSame(before: Source | null, { version, sheet }: Source): before is Source {
  return before?.version === version && before.sheet?.directory === sheet?.directory
}
