import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { JsonObject } from '../../contract/json/json.ts'
import { MODELS_FILE } from '../../derivation/definition/source-path.ts'
import { SheetError } from '../../errors/service-error.ts'
import type { PagePlace, SheetStore } from '../../store/sheet-store.ts'
import type { Contract } from '../../contract/contract.ts'
import type { DefinitionFile } from '../definition/definition-files.ts'
import { asSourceError } from '../../files/io/source-error.ts'
import { writeLines } from '../../files/io/write-lines.ts'
import { isDefinitionPath } from '../transfer/archive-format.ts'
import type { CellsToReplay } from './cells-to-replay.ts'

/** Records that are copied at a time. */
const PAGE = 1000

/** Writes definition files into a directory, by their paths. */
export async function writeDefinition(
  directory: string,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  for (const [path, bytes] of files) {
    const target = join(directory, ...path.split('/'))
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, bytes)
  }
}

/**
 * Reads the files of a directory that replace those of a sheet, by their paths, and derivations that the sheet does not have. Throws
 * SheetError for a directory without any, and as {@link asSourceError} says for one that cannot be read.
 */
export async function readReplacements(
  directory: string,
  known: readonly DefinitionFile[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const derivations = (await ifPresent(join(directory, 'derivations'), (path) => readdir(path))) ?? []
  const paths = new Set([
    ...known.map(({ path }) => path),
    ...OPTIONAL_FILES,
    ...derivations.map((name) => `derivations/${name}`).filter(isDefinitionPath),
  ])
  const replacements = new Map<string, Uint8Array>()
  for (const path of paths) {
    const bytes = await ifPresent(join(directory, ...path.split('/')), (file) => readFile(file))
    if (bytes !== null) replacements.set(path, bytes)
  }
  if (replacements.size > 0) return replacements
  throw new SheetError(
    `${directory} has none of the files of the archive, such as contract.yaml or derivations/*.yaml; name a directory with those to replace`,
    'unknown_file',
  )
}

/** Returns what is read at a path; null if there is nothing. */
async function ifPresent<T>(path: string, read: (path: string) => Promise<T>): Promise<T | null> {
  try {
    return await read(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw asSourceError(error, path)
  }
}

/** Files that a sheet need not have. */
const OPTIONAL_FILES = ['transport.yaml', MODELS_FILE]

/** Writes the records of a store as `records.jsonl`, in their order, without the values of the cells to replay. */
export async function writeRecordsBefore(
  directory: string,
  { fields }: Contract,
  {
    store,
    cells,
    known,
  }: { readonly store: SheetStore; readonly cells: CellsToReplay; readonly known: Contract },
): Promise<void> {
  const names = fields.map(({ name }) => name).filter((name) => known.fieldByName.has(name))
  await writeLines(join(directory, 'records.jsonl'), linesOf(store, names, cells))
}

async function* linesOf(
  store: SheetStore,
  fields: readonly string[],
  cells: CellsToReplay,
): AsyncGenerator<string> {
  for (let after: PagePlace | null = null; ;) {
    const page = await store.page({ fields, limit: PAGE, after, filter: null, sort: [], skip: 0 })
    const records = JSON.parse(String(page.records)) as readonly (JsonObject & { readonly id: string })[]
    for (const record of records) {
      const { id } = record
      const kept = Object.entries(record).filter(([name, value]) => value !== null && !cells.has(id, name))
      yield `${JSON.stringify(Object.fromEntries(kept))}\n`
    }
    if (page.next === null) return
    after = page.next
  }
}
