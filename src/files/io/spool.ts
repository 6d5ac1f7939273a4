import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FileSource } from './raw-records.ts'

/** A temporary file of a stream's contents, to be removed after use. */
export interface SpooledFile extends FileSource {
  remove(): Promise<void>
}

/** Writes a stream to a temporary file that only this user can read: most formats are read more than once. */
export async function spool(stream: Readable, name: string): Promise<SpooledFile> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-'))
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true })
  const path = join(directory, 'input')
  try {
    await pipeline(stream, createWriteStream(path, { mode: 0o600, flags: 'wx' }))
  } catch (error) {
    await remove()
    throw error
  }
  return { path, name, remove }
}
