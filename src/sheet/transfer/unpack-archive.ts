import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { openPromise, type Entry, type ZipFile } from 'yauzl'
import { showValue } from '../../contract/json/show-value.ts'
import { ServiceError, SheetError, ValidationError } from '../../errors/service-error.ts'
import type { FileSource } from '../../files/io/raw-records.ts'
import {
  limitOfPath,
  MANIFEST,
  MAX_ENTRIES,
  MAX_MANIFEST_BYTES,
  parseManifest,
  RECORDING,
  type ArchivedFile,
  type ArchiveManifest,
} from './archive-format.ts'

export interface UnpackLimits {
  /** The maximum size of all files together, decompressed, in bytes. */
  readonly maxBytes: number
  readonly signal: AbortSignal | null
  /** Whether the recording is unpacked, which no sheet has (default: false). */
  readonly withRecording?: boolean
}

export interface UnpackedArchive {
  readonly manifest: ArchiveManifest
  /** Notes for the user. */
  readonly notes: readonly string[]
}

/** The bits of the file attributes for the file type; 0 when the archive has none. */
const FILE_TYPE = 0o170000
const REGULAR_FILE = 0o100000

/**
 * Unpacks an archive of a sheet into an empty directory. The archive may come from an untrusted source: it may contain
 * only files that a sheet has, as regular files under their own names, none larger than the manifest states, and
 * together not larger than the limit. Returns its manifest and notes for the user. Throws ValidationError for any other archive,
 * SheetError when the file does not exist.
 */
export async function unpackArchive(
  file: FileSource,
  directory: string,
  limits: UnpackLimits,
): Promise<UnpackedArchive> {
  return withZip(file, async (zip) => {
    const entries = await listEntries(zip, file.name)
    const manifest = await readManifest(zip, entries, file.name)
    checkTotal(manifest, limits, file.name)
    const notes: string[] = []
    for (const described of manifest.files) {
      if (described.path === RECORDING && limits.withRecording !== true) {
        notes.push(`${RECORDING} is left out: it is for "colophon replay", which reads it from the archive`)
        continue
      }
      limits.signal?.throwIfAborted()
      const entry = entries.get(described.path)
      if (entry === undefined) throw damaged(file.name, described.path, 'is missing')
      await unpackFile({ zip, entry, described, directory, name: file.name })
    }
    return { manifest, notes }
  })
}

async function withZip<T>(file: FileSource, use: (zip: ZipFile) => Promise<T>): Promise<T> {
  let zip: ZipFile | null = null
  try {
    zip = await openPromise(file.path, { autoClose: false, strictFileNames: true })
    return await use(zip)
  } catch (error) {
    throw asServiceError(error, file.name)
  } finally {
    zip?.close()
  }
}

/** Returns the entries by path. Throws ValidationError for one that no sheet has. */
async function listEntries(zip: ZipFile, name: string): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount > MAX_ENTRIES)
    throw new ValidationError(`${name} has more files than a sheet can have`, 'invalid_archive')
  const entries = new Map<string, Entry>()
  const lower = new Set<string>()
  for await (const entry of zip.eachEntry()) {
    const path = entry.fileName
    // Some programs add the folder as an entry.
    if (path === 'derivations/') continue
    if (path === 'datapackage.json') {
      throw new ValidationError(
        `${name} is a data package: unpack it, and create a sheet from its contract.yaml (--contract) and its data (--from)`,
        'invalid_archive',
      )
    }
    const fault = valueError(entry)
    if (fault !== null) throw new ValidationError(`${name}: ${showValue(path)} ${fault}`, 'invalid_archive')
    if (lower.has(path.toLowerCase())) {
      throw new ValidationError(
        `${name}: ${showValue(path)} is in it twice, perhaps in another case`,
        'invalid_archive',
      )
    }
    lower.add(path.toLowerCase())
    entries.set(path, entry)
  }
  return entries
}

function valueError(entry: Entry): string | null {
  if (entry.fileName !== MANIFEST && limitOfPath(entry.fileName) === undefined) {
    return 'does not belong in a sheet; use an archive that "colophon export --format archive" wrote'
  }
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE
  if (type !== 0 && type !== REGULAR_FILE) return 'is not a regular file'
  if (entry.isEncrypted()) return 'is encrypted'
  return entry.canDecodeFileData() ? null : 'has an unknown compression'
}

async function readManifest(
  zip: ZipFile,
  entries: ReadonlyMap<string, Entry>,
  name: string,
): Promise<ArchiveManifest> {
  const entry = entries.get(MANIFEST)
  if (entry === undefined)
    throw new ValidationError(
      `${name} has no ${MANIFEST}, so it is not the archive of a sheet`,
      'invalid_archive',
    )
  if (entry.uncompressedSize > MAX_MANIFEST_BYTES) throw damaged(name, MANIFEST, 'is too large')
  const chunks: Buffer[] = []
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer)
  const manifest = parseManifest(Buffer.concat(chunks).toString(), name)
  const described = new Set(manifest.files.map(({ path }) => path))
  const other = [...entries.keys()].find((path) => path !== MANIFEST && !described.has(path))
  if (other !== undefined) throw damaged(name, other, 'is not in the manifest')
  if (!described.has('contract.yaml')) throw damaged(name, 'contract.yaml', 'is missing')
  if (described.size < manifest.files.length) throw damaged(name, MANIFEST, 'names a file twice')
  return manifest
}

function checkTotal({ files }: ArchiveManifest, { maxBytes }: UnpackLimits, name: string): void {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  if (total > maxBytes) {
    throw new ValidationError(
      `${name} needs ${mebibytes(total)}, and the limit is ${mebibytes(maxBytes)}; raise it with --max-size`,
      'invalid_archive',
    )
  }
  for (const { path, bytes } of files) {
    const limit = limitOfPath(path) ?? Infinity
    if (bytes > limit) throw damaged(name, path, `is larger than ${mebibytes(limit)}`)
  }
}

interface Unpacking {
  readonly zip: ZipFile
  readonly entry: Entry
  readonly described: ArchivedFile
  readonly directory: string
  readonly name: string
}

async function unpackFile({ zip, entry, described, directory, name }: Unpacking): Promise<void> {
  const { path, bytes, sha256, modified } = described
  const target = join(directory, ...path.split('/'))
  await mkdir(dirname(target), { recursive: true })
  const digest = createHash('sha256')
  let size = 0
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      digest.update(chunk)
      if (size > bytes) done(damaged(name, path, 'is larger than the manifest states'))
      else done(null, chunk)
    },
  })
  // Flags that never follow a link or overwrite a file.
  const output = createWriteStream(target, { flags: 'wx', mode: 0o644 })
  await pipeline(await zip.openReadStreamPromise(entry), count, output)
  if (size !== bytes || digest.digest('hex') !== sha256) {
    throw damaged(name, path, 'differs from the manifest')
  }
  await utimes(target, modified, modified)
}

function damaged(name: string, path: string, what: string): ValidationError {
  return new ValidationError(
    `${name}: ${showValue(path)} ${what}; the archive is damaged, or was changed`,
    'invalid_archive',
  )
}

/** Converts errors: the library throws plain errors for a damaged archive, the file system those with a code. */
function asServiceError(error: unknown, name: string): unknown {
  if (error instanceof ServiceError || !(error instanceof Error) || error.name === 'AbortError') return error
  if (!('syscall' in error))
    return new ValidationError(`${name} is not a readable zip archive: ${error.message}`, 'invalid_archive')
  const { code, path } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' && path !== undefined)
    return new SheetError(`${name}: there is no such file`, 'unknown_file')
  return new SheetError(`${name} cannot be unpacked (${code ?? 'unknown'})`, 'unknown_file')
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`
}
