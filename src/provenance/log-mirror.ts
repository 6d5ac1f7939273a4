import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
  type Stats,
} from 'node:fs'
import { fileError, RecordsError } from '../errors/service-error.ts'
import { isSameLine } from './erased-line.ts'
import { parseLine, type LineText, type LogSource } from './log-line.ts'
import { MAX_LINE_BYTES, readLines } from './read-lines.ts'
import { setAside, type SetAside } from './set-aside.ts'

/** A position in the file up to which it is known to equal the source. */
export interface MirrorPosition {
  readonly seq: number
  readonly offset: number
}

interface MirrorOptions {
  readonly verified: MirrorPosition
  readonly onSetAside: (lines: SetAside) => void
  /**
   * True where the last process that had the store open closed it: then no transaction was interrupted before the first
   * {@link LogMirror.repair}, and lines after those of the store were committed to another one.
   */
  readonly wasClosed?: boolean
  /** The {@link LogMirror.file} that the store knows; null or absent where it knows none. */
  readonly knownFile?: string | null
  /** The flags of `openSync`. */
  readonly flags?: 'a+' | 'r'
}

const CHUNK = 1 << 16

/** Flags to append to a file that replaced the log while it was open; a link might lead anywhere. */
const REOPEN = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)

/** Bytes that are written at a time. Reusing one buffer takes a quarter of the time of one large piece. */
const WRITE_CHUNK = 1 << 18

/** The most bytes of a UTF-16 code unit in UTF-8. */
const MOST_BYTES = 3
const LINE_FEED = 0x0a

/**
 * `provenance.jsonl`, kept equal to the provenance table (D34). The table is the durable copy; the file is written without
 * a sync of its own and repaired from the table whenever it is not as this process left it: after a crash, when another
 * process appended, or when it was truncated.
 *
 * Lines are appended inside the transaction that adds them to the table, whose lock keeps the order across processes.
 */
export class LogMirror {
  readonly #path: string
  readonly #source: LogSource
  readonly #onSetAside: (lines: SetAside) => void
  readonly #chunk = Buffer.allocUnsafeSlow(WRITE_CHUNK)
  #fd: number
  #inode: number
  #file: string
  #position: MirrorPosition
  #wasClosed: boolean
  /** Whether another program has made the file since the store has used it, so that nothing in it is of an interrupted transaction. */
  #isReplaced: boolean

  /**
   * Opens or creates the file; {@link repair} completes it. `onSetAside` is called when a repair has moved lines that the
   * store does not have out of the log.
   */
  constructor(
    path: string,
    source: LogSource,
    { verified, onSetAside, wasClosed = false, knownFile = null, flags = 'a+' }: MirrorOptions,
  ) {
    this.#path = path
    this.#fd = openSync(path, flags)
    const stats = fstatSync(this.#fd)
    this.#inode = stats.ino
    this.#file = nameOf(stats)
    this.#isReplaced = knownFile !== null && knownFile !== this.#file
    this.#source = source
    this.#onSetAside = onSetAside
    this.#position = verified
    this.#wasClosed = wasClosed
  }

  /** Checks that the file agrees with the source as {@link repair} does, and changes nothing. */
  check(): void {
    this.#verify(this.#goodStart(), this.#position.seq)
  }

  get position(): MirrorPosition {
    return this.#position
  }

  /** A name of the file that no later one has, and that stays with it. */
  get file(): string {
    return this.#file
  }

  /** Whether {@link continuation} can find lines: another program has replaced the file since the last {@link repair}. */
  get isReplaced(): boolean {
    const found = statSync(this.#path, { throwIfNoEntry: false })
    return this.#isReplaced || (found !== undefined && found.ino !== this.#inode)
  }

  /**
   * Makes the file contain every line of the source once, in order, each complete: cuts an incomplete end and lines that
   * were never committed, appends what is missing. Lines of another program, or of a newer state of the store, are moved to
   * another file, see {@link setAside}. Damage past the verified position, as after a power failure, is overwritten; before
   * it only an edit of the file can be the cause, and RecordsError names the line. Call it under the store's write lock.
   */
  repair(): void {
    this.#followPath()
    const good = this.#verify(this.#goodStart(), this.#position.seq)
    if (good.offset < fstatSync(this.#fd).size) this.#cut(good)
    this.#position = good
    this.#wasClosed = false
    this.#isReplaced = false
    let batch: LineText[] = []
    let bytes = 0
    for (const { seq, line } of this.#source.linesAfter(good.seq)) {
      batch.push({ start: line, end: '' })
      bytes += line.length
      if (bytes < 1 << 20) continue
      this.#write(batch, seq)
      batch = []
      bytes = 0
    }
    this.#write(batch, this.#source.lastSeq())
  }

  /**
   * Returns the lines that follow those of the source with the next numbers, where another program has replaced the file, as git
   * does with one to which another copy of the sheet has added lines; null for none. Call it under the store's write lock.
   */
  continuation(): readonly string[] | null {
    this.#followPath()
    if (!this.#isReplaced) return null
    const good = this.#verify(this.#goodStart(), this.#position.seq)
    if (good.seq !== this.#source.lastSeq()) return null
    const texts: string[] = []
    for (const { bytes, whole, tooLong } of readLines(this.#fd, good.offset)) {
      const text = Buffer.from(bytes).toString('utf8')
      if (!whole || tooLong || parseLine(text)?.['seq'] !== good.seq + texts.length + 1) return null
      texts.push(text)
    }
    return texts.length === 0 ? null : texts
  }

  /** Appends the lines of the transaction under way, the last of which has this seq; repairs first if needed. */
  append(lines: readonly LineText[], lastSeq: number): void {
    const before = lastSeq - lines.length
    if (this.#isAsLeft(before) || this.#followsTo(before)) {
      this.#write(lines, lastSeq)
    } else {
      this.repair()
    }
  }

  /** Makes {@link repair} compare all lines: those before the position can differ from those of the source. */
  distrust(): void {
    this.#position = { seq: 0, offset: 0 }
  }

  /**
   * Removes the lines after a position, when their transaction failed. Without the write lock another process may have
   * appended: then the next {@link repair} handles them.
   */
  rewind(position: MirrorPosition, locked: boolean): void {
    this.#position = position
    // Another, shorter file may be at the path since: it is not extended.
    if (locked && position.offset < fstatSync(this.#fd).size) ftruncateSync(this.#fd, position.offset)
  }

  /** Whether the file ends where this process left it. */
  get isAsLeft(): boolean {
    return this.#isAsLeft(this.#position.seq)
  }

  /** Syncs the file to the disk. */
  sync(): void {
    fdatasyncSync(this.#fd)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #isAsLeft(seq: number): boolean {
    if (this.#position.seq !== seq) return false
    const found = statSync(this.#path, { throwIfNoEntry: false })
    return found !== undefined && found.ino === this.#inode && found.size === this.#position.offset
  }

  /**
   * Moves the position to the end of the file where what is there after it is the lines of the source up to a seq, as other processes
   * append them. Returns false for anything else, and for more than is read at once: that is for {@link repair}, which takes longer.
   */
  #followsTo(seq: number): boolean {
    const { offset, seq: known } = this.#position
    const found = statSync(this.#path, { throwIfNoEntry: false })
    if (seq <= known || found?.ino !== this.#inode) return false
    const size = found.size - offset
    if (size <= 0 || size > WRITE_CHUNK || readSync(this.#fd, this.#chunk, 0, size, offset) !== size)
      return false
    let expected = ''
    for (const next of this.#source.linesAfter(known)) {
      expected += `${next.line}\n`
      if (next.seq === seq || expected.length > size) break
    }
    if (!this.#chunk.subarray(0, size).equals(Buffer.from(expected))) return false
    this.#position = { seq, offset: found.size }
    return true
  }

  /** Reopens the file where another one, or none, is at the path. The verified part must be in that, too. */
  #followPath(): void {
    if (statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode) return
    const fd = this.#reopen()
    closeSync(this.#fd)
    this.#fd = fd
    const stats = fstatSync(fd)
    const { ino, size } = stats
    this.#inode = ino
    this.#file = nameOf(stats)
    this.#isReplaced = true
    // An empty file is written anew as a whole.
    if (size === 0) this.#position = { seq: 0, offset: 0 }
  }

  #reopen(): number {
    try {
      return openSync(this.#path, REOPEN)
    } catch (error) {
      throw new RecordsError(
        `provenance.jsonl was removed or replaced while it was open, and cannot be opened again (${(error as Error).message}); ` +
          'put the file back, or move away what is in its place',
        'store_replaced',
      )
    }
  }

  #cut(good: MirrorPosition): void {
    const moved = setAside({
      fd: this.#fd,
      ...good,
      path: this.#path,
      source: this.#source,
      interrupted: !this.#wasClosed && !this.#isReplaced,
    })
    ftruncateSync(this.#fd, good.offset)
    if (moved !== null) this.#onSetAside(moved)
  }

  /** Appends lines; when that fails half-way, as on a full disk, the file is restored. */
  #write(lines: readonly LineText[], lastSeq: number): void {
    if (lines.length === 0) return
    try {
      this.#append(lines, lastSeq)
    } catch (error) {
      ftruncateSync(this.#fd, this.#position.offset)
      throw error
    }
  }

  #append(lines: readonly LineText[], lastSeq: number): void {
    let { offset } = this.#position
    let filled = 0
    const flush = (): void => {
      this.#writeAll(this.#chunk.subarray(0, filled))
      offset += filled
      filled = 0
    }
    for (const { start, end } of lines) {
      const most = (start.length + end.length) * MOST_BYTES + 1
      if (filled + most > WRITE_CHUNK) flush()
      if (most > WRITE_CHUNK) {
        const bytes = Buffer.from(`${start}${end}\n`)
        this.#writeAll(bytes)
        offset += bytes.length
        continue
      }
      filled += this.#chunk.write(start, filled, 'utf8')
      if (end !== '') filled += this.#chunk.write(end, filled, 'utf8')
      this.#chunk[filled] = LINE_FEED
      filled += 1
    }
    flush()
    this.#position = { seq: lastSeq, offset }
  }

  #writeAll(bytes: Buffer): void {
    for (let written = 0; written < bytes.length;) written += writeSync(this.#fd, bytes, written)
  }

  /** Returns the position from which the file is compared with the source. */
  #goodStart(): MirrorPosition {
    return this.#startsWhere(this.#position) ? this.#position : { seq: 0, offset: 0 }
  }

  /** Whether the line that ends at a position is the one with its seq. */
  #startsWhere(position: MirrorPosition): boolean {
    if (position.offset > fstatSync(this.#fd).size) return false
    if (position.offset === 0) return position.seq === 0
    const text = this.#lineEndingAt(position.offset)
    return text !== null && parseLine(text)?.['seq'] === position.seq
  }

  #lineEndingAt(end: number): string | null {
    const last = Buffer.alloc(1)
    readSync(this.#fd, last, 0, 1, end - 1)
    if (last[0] !== LINE_FEED) return null
    const chunks: Buffer[] = []
    for (let from = end - 1; from > 0;) {
      // Not a line of the service: the file is compared from the start then.
      if (end - from > MAX_LINE_BYTES) return null
      const size = Math.min(CHUNK, from)
      from -= size
      const chunk = Buffer.alloc(size)
      readSync(this.#fd, chunk, 0, size, from)
      const lineStart = chunk.lastIndexOf(LINE_FEED) + 1
      chunks.unshift(chunk.subarray(lineStart))
      if (lineStart > 0) break
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  /**
   * Compares the file with the source from a verified position on; returns the position up to which they agree. Throws
   * RecordsError when they differ in a line that was verified before, up to `knownGood`.
   */
  #verify(start: MirrorPosition, knownGood: number): MirrorPosition {
    const expected = this.#source.linesAfter(start.seq)[Symbol.iterator]()
    let good = start
    for (const { bytes, number, end, whole, tooLong } of readLines(this.#fd, start.offset)) {
      if (!whole && !tooLong) return good
      const next = expected.next()
      // Lines after the table's last one were never committed, or not to this store.
      if (next.done === true) return good
      if (tooLong || !Buffer.from(next.value.line).equals(bytes)) {
        if (next.value.seq > knownGood) return good
        // Left by a process that was killed while it erased values.
        if (!this.#isReplaced && isSameLine(Buffer.from(bytes).toString('utf8'), next.value.line)) return good
        const message =
          `the line is not the one that the store has with seq ${next.value.seq}; ` +
          'restore the file, or move it away and it is written again from the store; where it is the log of another branch or ' +
          'copy that has all lines of this one, move sheet.db away, and the store is made from the files'
        throw new RecordsError(
          ...fileError({ file: 'provenance.jsonl', line: number, message }, 'invalid_records_file'),
        )
      }
      good = { seq: next.value.seq, offset: end }
    }
    return good
  }
}

/** Returns a name of a file that no later one has, and that stays with it: its number can be used again once it is deleted. */
export function nameOf({ ino, birthtimeMs }: Stats): string {
  return `${ino} ${Math.trunc(birthtimeMs)}`
}

/**
 * Checks that the file at a path, if there is one, is the log of a source. Throws RecordsError for a line that another
 * store wrote, or that was edited. Changes nothing.
 */
export function checkLog(path: string, source: LogSource, verified: MirrorPosition): void {
  if (!existsSync(path)) return
  const mirror = new LogMirror(path, source, { verified, onSetAside: () => undefined, flags: 'r' })
  try {
    mirror.check()
  } finally {
    mirror.close()
  }
}
