import { chmodSync, closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { constants } from 'node:os'

/** The errors of a disk: no room, none for this user, and a defect. */
export const ERRORS = ['ENOSPC', 'EDQUOT', 'EIO'] as const

/** The calls that fail. */
export interface Fault {
  readonly error: (typeof ERRORS)[number]
  /** The number of calls before the first one, from now on. */
  readonly after: number
  /** Whether only one call fails; otherwise all do, until there is room again. */
  readonly once: boolean
  /** Whether a write stores the first half of its bytes: it fails when it is repeated for the rest. */
  readonly half: boolean
}

/** Offsets in `struct faults` of `files.c`. */
const [CALLS, FROM, UNTIL, FAILED, ERROR, HALF, KINDS] = [0, 8, 16, 24, 32, 36, 40]
const SIZE = 48

/** The kind of a sync in `files.c`. */
const SYNC = 4

const FOREVER = 2n ** 63n

/** The faults of the disk below a directory, which processes with the library of `files.c` share. */
export class Faults {
  /** The path of the file, for {@link watchedFiles}. */
  readonly file: string
  readonly #fd: number

  constructor(file: string) {
    this.file = file
    // The database may run as another user.
    writeFileSync(file, Buffer.alloc(SIZE))
    chmodSync(file, 0o666)
    this.#fd = openSync(file, 'r+')
  }

  /** The number of calls so far. */
  get calls(): number {
    return this.#read(CALLS)
  }

  /** The number of calls that have failed. */
  get failed(): number {
    return this.#read(FAILED)
  }

  /** Whether a sync has failed since {@link begin}. */
  get syncFailed(): boolean {
    return (this.#read(KINDS) & (1 << SYNC)) !== 0
  }

  /** Lets calls fail. */
  begin({ error, after, once, half }: Fault): void {
    const from = BigInt(this.calls + 1 + after)
    const code = constants.errno[error]
    this.#write32(ERROR, code)
    this.#write32(HALF, Number(half))
    this.#write(KINDS, 0n)
    this.#write(UNTIL, once ? from + 1n : FOREVER)
    this.#write(FROM, from)
  }

  /** Lets no more calls fail. */
  end(): void {
    this.#write(FROM, 0n)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #read(at: number): number {
    const bytes = Buffer.alloc(8)
    readSync(this.#fd, bytes, 0, 8, at)
    return Number(bytes.readBigUInt64LE())
  }

  #write(at: number, value: bigint): void {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(value)
    writeSync(this.#fd, bytes, 0, 8, at)
  }

  #write32(at: number, value: number): void {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    writeSync(this.#fd, bytes, 0, 4, at)
  }
}
