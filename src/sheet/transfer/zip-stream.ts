import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'

/** A file of an archive that is being written. */
export interface ZipEntry {
  /** Its path in the archive, with `/` between names. */
  readonly name: string
  readonly modified: Date
  /** What is in it, opened when its turn comes. */
  open(): Readable
}

/** The bytes of a zip archive with these files, in pieces, made as they are asked for. */
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
    // Whoever stopped reading in the middle leaves no file open.
    for (const stream of opened) stream.destroy()
  }
}

/** An entry with the bytes of a file. */
export function fileEntry(name: string, path: string, modified: Date): ZipEntry {
  return { name, modified, open: () => createReadStream(path) }
}

/** An entry with these bytes. */
export function bytesEntry(name: string, bytes: Uint8Array | string, modified: Date): ZipEntry {
  return { name, modified, open: () => Readable.from([Buffer.from(bytes)]) }
}
