import { closeSync, fsyncSync, openSync, readdirSync, readSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RecordsError } from '../errors/service-error.ts'
import type { LogSource } from './log-line.ts'
import { readLines, type FileLine } from './read-lines.ts'

/** Lines that were moved out of the log, since the store does not have them. */
export interface SetAside {
  /** Path of the file that has them now. */
  readonly file: string
  readonly lines: number
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
/** More bytes than {@link OWN_LINE} matches. */
const OWN_START_BYTES = 100
const OWN_LINE = /^\{"seq":(\d{1,15})(?:,"at":"([^"]*)")?[,}]/
const NUMBERED = /-(\d+)\.jsonl$/

/**
 * Copies lines of the log that the store does not have into a new file beside it, durably, so that they can be cut: those
 * of another program, and those of a store that was replaced by an older copy since. Returns null for none. Not copied are
 * lines of the store, those of an interrupted transaction (see {@link isOneTransaction}), an incomplete one of these, and
 * blocks that a power failure left unwritten. Throws RecordsError when the file cannot be written; nothing may be cut then.
 */
export function setAside(cut: CutLines): SetAside | null {
  const interrupted = cut.interrupted && isOneTransaction(cut)
  let uncommitted = cut.seq
  const isOwn = (line: FileLine): boolean => {
    if (line.tooLong) return false
    const text = Buffer.from(line.bytes).toString('utf8').replaceAll('\0', '')
    if (text.trim() === '') return true
    if (!line.whole) return text.startsWith(OWN_START) || OWN_START.startsWith(text)
    const seq = Number(OWN_LINE.exec(text)?.[1])
    if (interrupted && seq === uncommitted + 1) {
      uncommitted = seq
      return true
    }
    const [stored] = seq > 0 ? take(cut.source.linesAfter(seq - 1), 1) : []
    return stored?.seq === seq && stored.line === text
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
    if (!(error instanceof Error && 'code' in error)) throw error
    throw new RecordsError(
      `provenance.jsonl has lines that the store does not have, and they could not be moved to a file of their own ` +
        `(${error.message}): move them away, or make room`,
    )
  } finally {
    if (copy !== undefined) closeSync(copy.fd)
  }
}

/**
 * Whether the lines whose seqs continue those of the store are of one transaction, all of whose lines have the same time.
 * Of several transactions, all but the last were committed, so that the store must be an older copy.
 */
function isOneTransaction({ fd, seq, offset }: CutLines): boolean {
  let last = seq
  const times = new Set<string | undefined>()
  for (const { bytes, tooLong } of readLines(fd, offset)) {
    const own = tooLong ? null : OWN_LINE.exec(Buffer.from(bytes).toString('latin1', 0, OWN_START_BYTES))
    if (Number(own?.[1]) !== last + 1) continue
    last += 1
    times.add(own?.[2])
    if (times.size > 1) return false
  }
  return true
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
