import { Client } from 'pg'
import { startPostgresWith, type TestPostgres } from '../../test/support/postgres.ts'
import type { BenchSheetOptions } from './bench-sheet.ts'
import { DirectorySheets, type BenchSheets } from './bench-sheets.ts'
import { runProgram, type OnStart } from './processes.ts'

/** Usual settings for a machine of this size: every acknowledged commit is on the disk. */
const SETTINGS = `
shared_buffers = 1GB
max_wal_size = 8GB
checkpoint_timeout = 15min
`

const SCHEMA = 'bench'

/** Sheets in databases of a new PostgreSQL, a database for each, so that one can be copied. */
export class PostgresSheets implements BenchSheets {
  /** The description of the server in the report. */
  readonly description: string
  readonly #server: TestPostgres
  readonly #directories: DirectorySheets
  readonly #shared = new Map<number, string>()
  #count = 0
  #ofCase: string[] = []

  private constructor(server: TestPostgres, api: string, version: string) {
    this.description = `PostgreSQL ${version} on the same machine, over a Unix socket, with${SETTINGS.trimEnd().replaceAll('\n', ', ').slice(1)}`
    this.#server = server
    this.#directories = new DirectorySheets(api)
  }

  static async start(api: string): Promise<PostgresSheets> {
    const server = await startPostgresWith(SETTINGS)
    const [row] = await ask(server, `SELECT current_setting('server_version') AS version`)
    return new PostgresSheets(server, api, String(row?.['version']))
  }

  async shared(records: number): Promise<string> {
    const known = this.#shared.get(records)
    if (known !== undefined) return this.#url(known)
    const database = await this.#pushed('shared', { records, indexed: true, derivations: 'each' })
    this.#shared.set(records, database)
    return this.#url(database)
  }

  async copy(records: number): Promise<string> {
    await this.shared(records)
    return this.emptyDatabase(`TEMPLATE ${this.#shared.get(records)} STRATEGY FILE_COPY`)
  }

  async fresh(name: string, options: BenchSheetOptions): Promise<string> {
    const database = await this.#pushed(name, options)
    this.#ofCase.push(database)
    return this.#url(database)
  }

  /** Returns the URL of an empty schema, in a database for the present case. */
  async emptyDatabase(how = ''): Promise<string> {
    const database = await this.#create(how)
    this.#ofCase.push(database)
    return this.#url(database)
  }

  withoutStore(name: string, options: BenchSheetOptions): Promise<string> {
    return this.#directories.withoutStore(name, options)
  }

  directory(name: string): string {
    return this.#directories.directory(name)
  }

  async endCase(): Promise<void> {
    await this.#directories.endCase()
    for (const database of this.#ofCase) await ask(this.#server, `DROP DATABASE ${database} WITH (FORCE)`)
    this.#ofCase = []
  }

  /** The server ends with this process. */
  remove(): void {
    this.#directories.remove()
  }

  async #pushed(name: string, options: BenchSheetOptions): Promise<string> {
    const directory = await this.withoutStore(`push-${name}`, options)
    const database = await this.#create('')
    await pushSheet(directory, this.#url(database))
    return database
  }

  async #create(how: string): Promise<string> {
    const database = `bench_${(this.#count += 1)}`
    await ask(this.#server, `CREATE DATABASE ${database} ${how}`)
    return database
  }

  #url(database: string): string {
    return this.#server.url(SCHEMA, { database })
  }
}

/** Pushes the sheet of a directory into a store, with its records. */
export function pushSheet(directory: string, url: string, onStart?: OnStart): Promise<void> {
  return runProgram('bin/colophon.js', ['push', directory, '--store', url, '--actor', 'agent:bench'], onStart)
}

/** Returns the address of the database of a store for node-postgres. */
export function connectionString(url: string): string {
  const address = new URL(url.replace('@/', '@localhost/'))
  address.searchParams.delete('schema')
  return address.href
}

/** Opens a connection to the database of a store. */
export async function connectTo(url: string): Promise<Client> {
  const client = new Client({ connectionString: connectionString(url) })
  await client.connect()
  return client
}

async function ask(server: TestPostgres, sql: string): Promise<Record<string, unknown>[]> {
  const client = await connectTo(server.url(SCHEMA))
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
