import { constants, cpSync, existsSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { writeDefinitions, writeRecords, type BenchSheetOptions } from './bench-sheet.ts'
import { serveSheet } from './processes.ts'

const SOURCE = 'records.jsonl'

/**
 * The sheets of a run of the benchmarks, in a directory for temporary files. A large sheet takes long to make, so there is one of each
 * size for all cases that only read it, and a case that writes gets a copy.
 */
export class BenchSheets {
  readonly #root = mkdtempSync(join(tmpdir(), 'colophon-bench-'))
  readonly #api: string
  readonly #shared = new Map<number, string>()

  constructor(api: string) {
    this.#api = api
  }

  /** A sheet with a store, an indexed `code`, and a derivation for each derived field. To be read only. */
  async shared(records: number): Promise<string> {
    const known = this.#shared.get(records)
    if (known !== undefined) return known
    const directory = join(this.#root, `shared-${records}`)
    await this.#fill(directory, { records, indexed: true, derivations: 'each' })
    await makeStore(directory)
    this.#shared.set(records, directory)
    return directory
  }

  /** A copy of the shared sheet, for the case at hand. */
  async copy(records: number): Promise<string> {
    const shared = await this.shared(records)
    const directory = this.directory(`copy-${records}`)
    cpSync(shared, directory, {
      recursive: true,
      mode: constants.COPYFILE_FICLONE,
      filter: (path) => basename(path) !== SOURCE,
    })
    // Nobody writes to it, and as a link it keeps the time by which the store tells that it has not changed.
    linkSync(join(shared, SOURCE), join(directory, SOURCE))
    return directory
  }

  /** A sheet without a store, for the case at hand. */
  async withoutStore(name: string, options: BenchSheetOptions): Promise<string> {
    const directory = this.directory(name)
    await this.#fill(directory, options)
    return directory
  }

  /** An empty directory for the case at hand. */
  directory(name: string): string {
    const directory = join(this.#own(), name)
    rmSync(directory, { recursive: true, force: true })
    mkdirSync(directory, { recursive: true })
    return directory
  }

  /** Removes what was for the case at hand. */
  endCase(): void {
    rmSync(this.#own(), { recursive: true, force: true })
  }

  /** Removes everything. */
  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }

  async #fill(directory: string, options: BenchSheetOptions): Promise<void> {
    mkdirSync(directory, { recursive: true })
    writeDefinitions(directory, options, this.#api)
    linkSync(await this.#records(options.records), join(directory, SOURCE))
  }

  /** A file with so many records, which sheets have links to. */
  async #records(records: number): Promise<string> {
    const path = join(this.#root, `records-${records}.jsonl`)
    if (!existsSync(path)) await writeRecords(path, records)
    return path
  }

  #own(): string {
    return join(this.#root, 'case')
  }
}

async function makeStore(directory: string): Promise<void> {
  const sheet = await serveSheet(directory)
  await sheet.stop()
}
