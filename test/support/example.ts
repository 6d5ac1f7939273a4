import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { API_PORT, type RunningApi, startApi } from '../../examples/countries/api/server.mjs'

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'countries')

/** The source files of a sheet (D1); the files of a running sheet are not part of the example. */
const SOURCES = ['contract.yaml', 'records.jsonl', 'transport.yaml', 'derivations', 'refs']

/** A writable copy of the example sheet, with its API. */
export interface ExampleSheet {
  /** The sheet's directory. */
  readonly path: string
  /** The API that the copy's derivations call; `requests` counts them. */
  readonly api: RunningApi
  /** Stops the API and removes the directory. Close the sheet first. */
  cleanup(): Promise<void>
}

/** Copies the example into a temporary directory, with derivations that call an API on another port. */
export async function exampleSheet(): Promise<ExampleSheet> {
  const api = await startApi({ port: 0 })
  const path = await mkdtemp(join(tmpdir(), 'colophon-countries-'))
  await Promise.all(
    SOURCES.map((source) => cp(join(EXAMPLE, source), join(path, source), { recursive: true })),
  )
  for (const file of await readdir(join(path, 'derivations'))) {
    await movePort(join(path, 'derivations', file), api.port)
  }
  return {
    path,
    api,
    async cleanup() {
      await api.close()
      await rm(path, { recursive: true })
    },
  }
}

async function movePort(file: string, port: number): Promise<void> {
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replaceAll(`127.0.0.1:${API_PORT}`, `127.0.0.1:${port}`))
}
