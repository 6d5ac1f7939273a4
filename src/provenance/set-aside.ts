import { closeSync, fsyncSync, openSync, readdirSync, readSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RecordsError } from '../errors/service-error.ts'
import { systemCode } from '../errors/system-code.ts'
import { isSameLine } from './erased-line.ts'
import type { LogSource } from './log-line.ts'
import { readLines, type FileLine } from './read-lines.ts'

/** Lines that were moved out of the log, since the store does not have them. */
export interface SetAside {
  /** Path of the file that has them now. */
  readonly file: string
  readonly lines: number
  /** The reason why they could not be taken over from another copy of the sheet; absent where they continue no log. */
  readonly reason?: string
}

/** The lines of the log's file that are about to be cut. */
export interface CutLines {
  readonly fd: number
  /** Seq of the last line before them, and the offset after it. */
  readonly seq: number
  readonly offset: number
  readonly path: string
  readonly source: LogSource
  /** Whether a transaction can have been interrupted between its lines and its commit. */
  readonly interrupted: boolean
}

const CHUNK = 1 << 16
const OWN_START = '{"seq":'
const OWN_LINE = /^\{"seq":(\d{1,15})(?:,"at":"([^"]*)")?[,}]/
const NUMBERED = /-(\d+)\.jsonl$/

/**
 * Copies lines of the log that the store does not have into a new file beside it, durably, so that they can be cut: those
 * of another program, and those of a store that was replaced by an older copy since. Returns null for none. Not copied are
 * lines of the store, those of an interrupted transaction (see {@link isOneTransaction}), an incomplete one of these, and
 * lines that a power failure left unwritten. Throws RecordsError when the file cannot be written; nothing may be cut then.
 */
export function setAside(cut: CutLines): SetAside | null {
  const interrupted = cut.interrupted && isOneTransaction(cut)
  const reader = new CutReader(cut)
  const isOwn = (line: FileLine): boolean => {
    if (line.tooLong) return false
    const text = Buffer.from(line.bytes).toString('utf8')
    const { isUnwritten, isStored, continues } = reader.next(text)
    if (isUnwritten || text.trim() === '') return true
    if (!line.whole) return text.startsWith(OWN_START) || OWN_START.startsWith(text)
    return isStored || (interrupted && continues)
  }

  let copy: { readonly file: string; readonly fd: number } | undefined
  let lines = 0
  try {
    let offset = cut.offset
    for (const line of readLines(cut.fd, cut.offset)) {
      if (!isOwn(line)) {
        copy ??= createBeside(cut.path)
        lines += 1
        if (line.tooLong) copyRest(cut.fd, offset, copy.fd)
        else writeSync(copy.fd, Buffer.concat([line.bytes, Buffer.from('\n')]))
      }
      offset = line.end
    }
    if (copy === undefined) return null
    fsyncSync(copy.fd)
    return { file: copy.file, lines }
  } catch (error) {
    const code = systemCode(error)
    if (code === undefined) throw error
    throw new RecordsError(
      `provenance.jsonl has lines that the store does not have, and they could not be moved to a file of their own ` +
        `(${code}): move them away, or make room`,
    )
  } finally {
    if (copy !== undefined) closeSync(copy.fd)
  }
}

/**
 * Whether the lines whose seqs continue those of the store are of one transaction, all of whose lines have the same time.
 * Of several transactions, all but the last were committed, so that the store must be an older copy.
 */
function isOneTransaction(cut: CutLines): boolean {
  const reader = new CutReader(cut)
  const times = new Set<string | undefined>()
  for (const { bytes, tooLong, whole } of readLines(cut.fd, cut.offset)) {
    // The time of an incomplete line may be cut.
    if (tooLong || !whole) continue
    const { at, continues } = reader.next(Buffer.from(bytes).toString('utf8'))
    if (!continues) continue
    times.add(at)
    if (times.size > 1) return false
  }
  return true
}

interface CutLine {
  readonly at: string | undefined
  /** Whether a power failure left some of its bytes unwritten: no JSON has zero bytes. */
  readonly isUnwritten: boolean
  /** Whether the store has it. */
  readonly isStored: boolean
  /** Whether its seq continues those before: it is the next one, or a later one after lines that were left unwritten. */
  readonly continues: boolean
}

/** Reads lines that are about to be cut, in their order. */
class CutReader {
  readonly #source: LogSource
  #last: number
  #hasGap = false

  constructor({ source, seq }: CutLines) {
    this.#source = source
    this.#last = seq
  }

  next(text: string): CutLine {
    const own = OWN_LINE.exec(text)
    const seq = Number(own?.[1])
    const isUnwritten = text.includes('\0')
    const [stored] = seq > 0 && !isUnwritten ? take(this.#source.linesAfter(seq - 1), 1) : []
    const isStored = stored?.seq === seq && isSameLine(stored.line, text)
    const continues =
      !isStored && !isUnwritten && (seq === this.#last + 1 || (this.#hasGap && seq > this.#last))
    if (isStored || continues) this.#last = seq
    this.#hasGap = isUnwritten || (this.#hasGap && !isStored && !continues)
    return { at: own?.[2], isUnwritten, isStored, continues }
  }
}

/** Returns the names of the files beside a log with lines set aside, in the order of their creation. */
export function setAsideFiles(path: string): string[] {
  const prefix = prefixOf(path)
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && NUMBERED.test(name))
    .toSorted((a, b) => numberOf(a) - numberOf(b))
}

/** Creates a new file; never writes to an existing one at its path, such as a link that leads elsewhere. */
function createBeside(path: string): { readonly file: string; readonly fd: number } {
  const last = setAsideFiles(path).at(-1)
  const number = last === undefined ? 1 : numberOf(last) + 1
  const file = join(dirname(path), `${prefixOf(path)}${number}.jsonl`)
  return { file, fd: openSync(file, 'wx') }
}

function prefixOf(path: string): string {
  return `${basename(path, '.jsonl')}.set-aside-`
}

function numberOf(name: string): number {
  return Number(NUMBERED.exec(name)?.[1])
}

function copyRest(from: number, offset: number, to: number): void {
  const chunk = Buffer.alloc(CHUNK)
  for (let position = offset; ;) {
    const size = readSync(from, chunk, 0, CHUNK, position)
    if (size === 0) return
    writeSync(to, chunk, 0, size)
    position += size
  }
}

function take<T>(items: Iterable<T>, count: number): T[] {
  const taken: T[] = []
  for (const item of items) {
    taken.push(item)
    if (taken.length === count) break
  }
  return taken
}
