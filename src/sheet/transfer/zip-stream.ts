import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'

/** A file of an archive that is being written. */
export interface ZipEntry {
  /** The path in the archive, with `/` between names. */
  readonly name: string
  readonly modified: Date
  /** Opens the content, once the entry is written. */
  open(): Readable
}

/** Yields the bytes of a zip archive with these files, on demand. */
export async function* zipOf(entries: Iterable<ZipEntry>): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const output = Readable.from(zip.outputStream)
  zip.on('error', (error: Error) => output.destroy(error))
  const opened = new Set<Readable>()
  for (const { name, modified, open } of entries) {
    zip.addReadStreamLazy(name, { mtime: modified, mode: 0o100644 }, (begin) => {
      const stream = open()
      opened.add(stream)
      stream.on('error', (error) => output.destroy(error))
      begin(null, stream)
    })
  }
  zip.end()
  try {
    for await (const chunk of output) yield chunk as Uint8Array
  } finally {
    // Closes open files when the consumer stops early.
    for (const stream of opened) stream.destroy()
  }
}

/** Returns an entry with the bytes of a file. */
export function fileEntry(name: string, path: string, modified: Date): ZipEntry {
  return { name, modified, open: () => createReadStream(path) }
}

/** Returns an entry with these bytes. */
export function bytesEntry(name: string, bytes: Uint8Array | string, modified: Date): ZipEntry {
  return { name, modified, open: () => Readable.from([Buffer.from(bytes)]) }
}
