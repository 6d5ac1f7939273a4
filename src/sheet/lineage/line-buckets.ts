import { hash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { readLines } from '../../provenance/read-lines.ts'
import { TextFile } from './text-file.ts'

/** The number of lines of a bucket, on average: the cells of a bucket are in memory together. */
const LINES_OF_BUCKET = 50_000

/** The most buckets, each of which is an open file. */
const MOST_BUCKETS = 256

/** Lines of a log in temporary files, so that those of a record are together and in their order. */
export class LineBuckets {
  readonly #files: readonly TextFile[]

  /** `lines` is the number of lines to expect. The files are in `directory`, which the caller removes. */
  constructor(directory: string, lines: number) {
    const count = Math.min(MOST_BUCKETS, Math.max(1, Math.ceil(lines / LINES_OF_BUCKET)))
    this.#files = Array.from({ length: count }, (_, index) => new TextFile(join(directory, `lines-${index}`)))
  }

  /** Adds a line of a record, with its line break. */
  add(recordId: string, line: Uint8Array): void {
    this.#files[bucketOf(recordId, this.#files.length)]?.add(line)
  }

  /** Yields the lines of each bucket, without their line breaks. A line is valid until the next one. */
  *all(): Generator<Iterable<Uint8Array>> {
    for (const file of this.#files) {
      file.end()
      yield linesOf(file.path)
    }
  }

  /** Closes the files. */
  close(): void {
    for (const file of this.#files) file.end()
  }
}

function bucketOf(recordId: string, count: number): number {
  return count === 1 ? 0 : hash('sha1', recordId, 'buffer').readUInt32BE() % count
}

function* linesOf(path: string): Generator<Uint8Array> {
  const fd = openSync(path, 'r')
  try {
    for (const { bytes } of readLines(fd, 0)) yield bytes
  } finally {
    closeSync(fd)
  }
}
