import {
  constants,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import {
  benchRecord,
  writeDefinitions,
  writeRecords,
  type BenchSheetOptions,
  type FieldCount,
} from './bench-sheet.ts'
import { orderRecord, ORDERS_CONTRACT } from './orders.ts'
import { serveSheet, type SheetPlace } from './processes.ts'

const SOURCE = 'records.jsonl'

/**
 * The sheets of a benchmark run. A large sheet takes long to make, so there is one of each size for all cases that only read it, and a case
 * that writes gets a copy.
 */
export interface BenchSheets {
  /** Returns a sheet with a store; one of 20 fields has an indexed `code` and a derivation for each derived field. Read-only. */
  shared(records: number): Promise<SheetPlace>
  /** Returns a copy of the shared sheet for the present case. */
  copy(records: number): Promise<SheetPlace>
  /** Returns a new sheet for the present case. */
  fresh(name: string, options: BenchSheetOptions): Promise<SheetPlace>
  /** Returns a directory with the source files of a sheet for the present case. */
  withoutStore(name: string, options: BenchSheetOptions): Promise<string>
  /** Returns an empty directory for the present case. */
  directory(name: string): string
  /** Removes everything of the present case. */
  endCase(): Promise<void>
  /** Removes everything, at once. */
  remove(): void
}

/** Sheets in directories, with stores of SQLite, among temporary files. */
export class DirectorySheets implements BenchSheets {
  readonly #root = mkdtempSync(join(tmpdir(), 'colophon-bench-'))
  readonly #api: string
  readonly #shared = new Map<string, string>()

  constructor(api: string) {
    this.#api = api
  }

  async shared(records: number, fields: FieldCount = 20): Promise<string> {
    const name = `shared-${fields}-${records}`
    const known = this.#shared.get(name)
    if (known !== undefined) return known
    const directory = join(this.#root, name)
    await this.#fill(directory, { records, fields, indexed: true, derivations: 'each' })
    await makeStore(directory)
    this.#shared.set(name, directory)
    return directory
  }

  async copy(records: number, fields: FieldCount = 20): Promise<string> {
    const shared = await this.shared(records, fields)
    const directory = this.directory(`copy-${fields}-${records}`)
    cpSync(shared, directory, {
      recursive: true,
      mode: constants.COPYFILE_FICLONE,
      filter: (path) => basename(path) !== SOURCE,
    })
    // Nothing writes to it, and a link keeps the time by which the store detects that it has not changed.
    linkSync(join(shared, SOURCE), join(directory, SOURCE))
    return directory
  }

  /** Its store is created when it is first opened. */
  fresh(name: string, options: BenchSheetOptions): Promise<string> {
    return this.withoutStore(name, options)
  }

  async withoutStore(name: string, options: BenchSheetOptions): Promise<string> {
    const directory = this.directory(name)
    await this.#fill(directory, options)
    return directory
  }

  directory(name: string): string {
    const directory = join(this.#own(), name)
    rmSync(directory, { recursive: true, force: true })
    mkdirSync(directory, { recursive: true })
    return directory
  }

  async endCase(): Promise<void> {
    rmSync(this.#own(), { recursive: true, force: true })
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }

  async #fill(directory: string, options: BenchSheetOptions): Promise<void> {
    mkdirSync(directory, { recursive: true })
    if (options.fields === 9) writeFileSync(join(directory, 'contract.yaml'), ORDERS_CONTRACT)
    else writeDefinitions(directory, options, this.#api)
    linkSync(await this.#records(options), join(directory, SOURCE))
  }

  /** Returns a file with these records, to which sheets link. */
  async #records({ records, fields = 20 }: BenchSheetOptions): Promise<string> {
    const path = join(this.#root, `records-${fields}-${records}.jsonl`)
    if (!existsSync(path)) await writeRecords(path, records, fields === 9 ? orderRecord : benchRecord)
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
