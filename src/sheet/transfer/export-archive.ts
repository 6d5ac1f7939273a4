import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatManifest, MANIFEST, RECORDING, type ArchivedFile } from './archive-format.ts'
import { copySheet } from './copy-sheet.ts'
import type { DefinitionFile } from '../definition/definition-files.ts'
import { writeRecording, type WrittenRecording } from '../recording/write-recording.ts'
import type { Sheet } from '../sheet.ts'
import { bytesEntry, fileEntry, zipOf, type ZipEntry } from './zip-stream.ts'

/** Options of {@link exportArchive}. */
export interface ArchiveOptions {
  /** Adds the recording, and receives how much of the sheet it covers; null adds none. */
  readonly recording?: { onWritten(written: WrittenRecording): void } | null
}

/**
 * Yields the bytes of a zip archive of the whole sheet: its definition files, and its store as it is at one moment,
 * with the records and the log as files of their own. `initSheet` creates the same sheet from it. Needs disk space for
 * a copy of the store in the directory for temporary files. With `recording` it has the calls of the runs as well. Throws ContractError while the contract or a derivation is
 * broken, RecordsError when the copy cannot be made.
 */
export async function* exportArchive(
  sheet: Sheet,
  { recording = null }: ArchiveOptions = {},
): AsyncGenerator<Uint8Array> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-archive-'))
  try {
    const { definitions, snapshot } = await copySheet(sheet, directory)
    // Later than the copy: each of its calls is in it.
    if (recording !== null) recording.onWritten(await writeRecording(sheet, join(directory, RECORDING)))
    const modified = new Date()
    const parts = [
      ...definitions.map((file) => definitionPart(file, modified)),
      ...(await Promise.all((await readdir(directory)).toSorted().map((name) => storePart(directory, name)))),
    ]
    const manifest = formatManifest({ ...snapshot, files: parts.map(({ file }) => file) })
    yield* zipOf([bytesEntry(MANIFEST, manifest, modified), ...parts.map(({ entry }) => entry)])
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Part {
  readonly file: ArchivedFile
  readonly entry: ZipEntry
}

function definitionPart({ path, bytes }: DefinitionFile, modified: Date): Part {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return {
    file: { path, bytes: bytes.length, sha256, modified: seconds(modified) },
    entry: bytesEntry(path, bytes, modified),
  }
}

async function storePart(directory: string, name: string): Promise<Part> {
  const path = join(directory, name)
  const { size, mtime } = await stat(path)
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer)
  return {
    file: { path: name, bytes: size, sha256: digest.digest('hex'), modified: seconds(mtime) },
    entry: fileEntry(name, path, mtime),
  }
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000)
}
