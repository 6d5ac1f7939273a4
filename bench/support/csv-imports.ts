import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DirectorySheets } from './bench-sheets.ts'
import type { Program } from './program.ts'

const MB = 1e6

/** The duration of an import, and the size of the files that it leaves. */
export interface Imported {
  readonly seconds: number
  readonly megabytes: number
}

/** Imports a CSV file into an empty directory by a command, and removes that; null for a program without such a command. */
export async function timeImport(
  { importCsv }: Program,
  sheets: DirectorySheets,
  file: string,
): Promise<Imported | null> {
  if (importCsv === undefined) return null
  const directory = sheets.directory('import')
  const start = performance.now()
  await importCsv(directory, file)
  const seconds = (performance.now() - start) / 1000
  const megabytes = sizeOf(directory)
  rmSync(directory, { recursive: true })
  return { seconds, megabytes }
}

/** Returns the size of the files of a directory in MB, but for those of these names. */
export function sizeOf(directory: string, except: readonly string[] = []): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
  const sizes = files
    .filter((file) => file.isFile() && !except.includes(file.name))
    .map((file) => statSync(join(file.parentPath, file.name)).size)
  return sizes.reduce((total, size) => total + size, 0) / MB
}
