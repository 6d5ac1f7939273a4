import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { datasette } from './programs/datasette.ts'
import { pocketbase } from './programs/pocketbase.ts'
import type { Program } from './support/program.ts'

const run = promisify(execFile)

const SOURCE = join(import.meta.dirname, 'peers', 'pocketbase')
const CACHE = join(import.meta.dirname, '..', '.cache', 'peers')

export interface Peers {
  readonly programs: readonly Program[]
  /** A sentence for each program that is not there: why, and what to do. */
  readonly missing: readonly string[]
}

/** Returns the peers that are installed; see bench/README.md. Builds PocketBase if there is Go. */
export async function findPeers({
  datasetteProgram = process.env['COLOPHON_DATASETTE'] ?? 'datasette',
  go = 'go',
} = {}): Promise<Peers> {
  const programs: Program[] = []
  const missing: string[] = []
  const find = async (peer: Promise<Program>, toDo: string): Promise<void> => {
    try {
      programs.push(await peer)
    } catch (error) {
      missing.push(`${toDo} (${error instanceof Error ? error.message.trim() : String(error)})`)
    }
  }
  await find(
    datasette(datasetteProgram),
    'Datasette was not measured: install it, and name its program in COLOPHON_DATASETTE',
  )
  await find(builtPocketbase(go), 'PocketBase was not measured: install Go, which builds it')
  return { programs, missing }
}

async function builtPocketbase(go: string): Promise<Program> {
  mkdirSync(CACHE, { recursive: true })
  const program = join(CACHE, 'pocketbase')
  await run(go, ['build', '-o', program, '.'], { cwd: SOURCE })
  return pocketbase(program)
}
