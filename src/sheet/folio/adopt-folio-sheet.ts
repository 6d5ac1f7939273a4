import { existsSync, realpathSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { SheetError } from '../../errors/service-error.ts'
import type { Difference } from '../../files/folio/difference-report.ts'
import { writeGitignore } from '../lifecycle/new-sheet-files.ts'
import { checkFree, stageSheet } from '../lifecycle/init-staging.ts'
import { noCalls } from '../calls/no-calls.ts'
import { loadKinds } from '../definition/load-kinds.ts'
import { openSheet } from '../open-sheet.ts'
import { adoptCells } from './adopt-cells.ts'
import { convertFolioSheet, type ConvertedSheet } from './convert-folio-sheet.ts'
import { reportCopies, type CopiedFile } from './copied-files.ts'
import { FolioSource, NOT_COPIED } from './folio-source.ts'
import { linePieces } from './line-pieces.ts'

export interface FolioAdoptionOptions {
  /** The actor of the adoption in the log; null for the program. */
  readonly actor: string | null
  /** Only reports: nothing is left at the path of the new sheet. */
  readonly check: boolean
  readonly signal?: AbortSignal
}

/** The cells of derived fields by their state (D32). */
export interface AdoptedCells {
  readonly fresh: number
  readonly stale: number
  readonly missing: number
  readonly overridden: number
}

/** The result of adopting a folio sheet. */
export interface FolioAdoption {
  readonly records: number
  readonly cells: AdoptedCells
  /** Every difference between the two sheets. */
  readonly differences: readonly Difference[]
}

/** The actor of an adoption when none is given. */
const ADOPTER = 'system'

/** The error that ends a check, so that what it made is removed. */
class Checked extends Error {
  readonly adoption: FolioAdoption

  constructor(adoption: FolioAdoption) {
    super('checked')
    this.adoption = adoption
  }
}

/**
 * Makes a sheet from one of folio, in a directory that has no sheet, whole or not at all, and returns every difference. The folio sheet is only read.
 * Makes no calls and runs no scripts. Throws SheetError for a source that is no sheet and when a file is in the way, ContractError for a contract that
 * cannot be read, and the reason of the signal once that aborts.
 */
export async function adoptFolioSheet(
  path: string,
  from: string,
  options: FolioAdoptionOptions,
): Promise<FolioAdoption> {
  checkFree(path)
  const source = new FolioSource(from)
  checkOutside(path, source.directory)
  const kinds = await loadKinds({ transport: noCalls(), dialect: 'sqlite' })
  const converted = convertFolioSheet({
    source,
    kinds,
    name: basename(resolve(path)) || 'sheet',
    now: new Date(),
    target: resolve(path),
  })
  options.signal?.throwIfAborted()
  try {
    return await stageSheet(path, async (staging) => {
      await writeGitignore(staging)
      await writeFiles(staging, converted, options)
      const adoption = await fillStore(staging, converted, options)
      options.signal?.throwIfAborted()
      if (options.check) throw new Checked(adoption)
      return adoption
    })
  } catch (error) {
    if (error instanceof Checked) return error.adoption
    throw error
  }
}

function checkOutside(path: string, source: string): void {
  const target = realPathOf(resolve(path))
  if (target !== source && !target.startsWith(`${source}${sep}`)) return
  throw new SheetError(
    `${path} is in the folio sheet, which is not changed; choose a directory outside of it`,
    'path_exists',
  )
}

/** Returns a path with the links of its existing part resolved. */
function realPathOf(path: string): string {
  const parent = dirname(path)
  try {
    return realpathSync.native(path)
  } catch {
    return parent === path ? path : join(realPathOf(parent), basename(path))
  }
}

async function writeFiles(
  staging: string,
  { files, source, copied, report }: ConvertedSheet,
  { signal }: FolioAdoptionOptions,
): Promise<void> {
  const write = async (path: string, bytes: Uint8Array | string): Promise<void> => {
    await mkdir(dirname(join(staging, path)), { recursive: true })
    await writeFile(join(staging, path), bytes, { flag: 'wx' })
  }
  for (const { path, bytes } of files) await write(path, bytes)
  const written: CopiedFile[] = []
  for (const file of copied) {
    signal?.throwIfAborted()
    const bytes = source.fileToCopy(file.from)
    if (bytes === null) {
      report.add('cannot', { file: file.from }, NOT_COPIED)
      continue
    }
    await write(file.to, bytes)
    written.push(file)
  }
  reportCopies(written, report)
}

/** Creates the store, with the values and states of cells, and the complete records and log beside it. */
async function fillStore(
  staging: string,
  converted: ConvertedSheet,
  { actor, signal }: FolioAdoptionOptions,
): Promise<FolioAdoption> {
  const options = { flag: 'wx' }
  await writeFile(join(staging, 'records.jsonl'), linePieces(converted.records, JSON.stringify), options)
  signal?.throwIfAborted()
  if (converted.log.length > 0) {
    await writeFile(join(staging, 'provenance.jsonl'), linePieces(converted.log, JSON.stringify), options)
  }
  const copy = join(staging, '.adopted')
  await mkdir(copy)
  const sheet = await openSheet(staging, { defaultActor: actor ?? ADOPTER, transport: noCalls() })
  let cells: AdoptedCells
  let records: number
  try {
    await adoptCells(sheet, { ...converted, actor: actor ?? ADOPTER, signal })
    const { store } = await sheet.deriving()
    const status = await store.status()
    records = status.total
    const sum = (state: keyof AdoptedCells): number =>
      status.targets.reduce((total, target) => total + target[state], 0)
    cells = {
      fresh: sum('fresh'),
      stale: sum('stale'),
      missing: sum('missing'),
      overridden: sum('overridden'),
    }
    signal?.throwIfAborted()
    await store.snapshot(copy)
  } finally {
    await sheet.close()
  }
  for (const name of ['sheet.db', 'records.jsonl', 'provenance.jsonl', 'checkpoints.txt']) {
    await rm(join(staging, name), { force: true })
    if (existsSync(join(copy, name))) await rename(join(copy, name), join(staging, name))
  }
  for (const name of ['sheet.db-wal', 'sheet.db-shm', 'sheet.db-lock', 'sheet.db-journal', '.adopted']) {
    await rm(join(staging, name), { recursive: true, force: true })
  }
  return { records, cells, differences: converted.report.list() }
}
