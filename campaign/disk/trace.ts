import { readFileSync } from 'node:fs'

/** The kinds of records in a trace, by their number in `files.c`. */
const KINDS = [
  'none',
  'write',
  'truncate',
  'extend',
  'sync',
  'create',
  'rename',
  'unlink',
  'link',
  'mkdir',
  'rmdir',
] as const

/** A call that changed files below a directory, as `files.c` recorded it. */
export interface Call {
  readonly kind: (typeof KINDS)[number]
  /** The bytes of the trace before it, and up to its end. */
  readonly start: number
  readonly end: number
  readonly inode: number
  /** The offset of a write, the size of a resized file, and of a sync the bytes of the trace before it began. */
  readonly at: number
  /** The path below the directory; of a sync, that of a directory (`.` for the first one), or null for a file. */
  readonly name: string | null
  /** The path after a rename, and the second one of a link. */
  readonly other: string | null
  readonly data: Buffer
}

const HEAD = 32

/** Reads the calls of a trace, in the order of their records. */
export function readTrace(file: string): readonly Call[] {
  const bytes = readFileSync(file)
  const calls: Call[] = []
  for (let start = 0; start < bytes.length;) {
    const end = start + bytes.readUInt32LE(start)
    const [nameLength, otherLength] = [bytes.readUInt32LE(start + 24), bytes.readUInt32LE(start + 28)]
    const other = start + HEAD + nameLength
    const data = other + otherLength
    const kind = KINDS[bytes.readUInt32LE(start + 4)]
    if (kind === undefined || end <= start) throw new Error(`${file} is damaged at byte ${start}`)
    calls.push({
      kind,
      start,
      end,
      inode: Number(bytes.readBigUInt64LE(start + 8)),
      at: Number(bytes.readBigUInt64LE(start + 16)),
      name: nameLength === 0 ? null : bytes.toString('utf8', start + HEAD, other),
      other: otherLength === 0 ? null : bytes.toString('utf8', other, data),
      data: bytes.subarray(data, end),
    })
    start = end
  }
  return calls
}
