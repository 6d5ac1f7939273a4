import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../../src/store/suite/support/random.ts'
import type { Call } from './trace.ts'

/** A directory as it was when its trace began, and a copy of it that nobody changes. */
export interface Before {
  readonly copy: string
  /** The paths of its files by their inodes in the directory. */
  readonly paths: ReadonlyMap<number, string>
}

/** Copies a directory before its files are recorded. */
export function copyBefore(directory: string, copy: string): Before {
  cpSync(directory, copy, { recursive: true, preserveTimestamps: true })
  const paths = filesBelow(directory).map((path): [number, string] => [
    statSync(join(directory, path)).ino,
    path,
  ])
  return { copy, paths: new Map(paths) }
}

/** The order in which a file system keeps the names of files. */
export type Names =
  /** By a journal, as ext4, XFS and btrfs: names are kept in the order of the calls, and a sync of a file keeps its name. */
  | 'journal'
  /** By the promises of POSIX alone: a sync of the directory keeps its names, and any subset of other names is kept. */
  | 'subset'

/** The choices of what a file system has kept. */
export interface Loss {
  /** The bytes of the trace up to which calls were made. */
  readonly at: number
  readonly names: Names
  /** Whether a sync promises anything; without, the disk lies. */
  readonly syncs: boolean
  readonly random: Random
}

/** A file after a power loss. */
interface ImageFile {
  /** Its bytes, or the path of the file from before that it still is. */
  readonly content: Buffer | { readonly asBefore: string }
  /** A number that orders files by when they were last changed. */
  readonly changed: number
  /** The last call that changed its data; null for none. */
  readonly last: Call | null
}

/** The files that a power loss leaves, by path, and the directories. */
export interface Image {
  readonly files: ReadonlyMap<string, ImageFile>
  readonly directories: ReadonlySet<string>
}

/** The sizes of pieces of which each is kept or not: a sector, and a page. */
const PIECES = [512, 4096] as const

/** A file in the course of a trace. */
interface TracedFile {
  /** Its path in the copy; null for a new file. */
  readonly before: string | null
  /** The bytes of the trace before it was created; 0 for a file from before. */
  readonly created: number
  readonly calls: Call[]
}

/** Returns what a directory may hold after a power loss: everything that was synced, and of the rest what chance keeps. */
export function crashImage(before: Before, calls: readonly Call[], loss: Loss): Image {
  const made = calls.filter(({ end }) => end <= loss.at)
  const byInode = new Map<number, TracedFile>()
  for (const [inode, path] of before.paths) byInode.set(inode, { before: path, created: 0, calls: [] })
  const entries = new Map([...before.paths].map(([inode, path]) => [path, byInode.get(inode)!]))
  const directories = new Set(directoriesBelow(before.copy))
  const names: { readonly call: Call; readonly file: TracedFile | null }[] = []
  const syncs: { readonly call: Call; readonly file: TracedFile | null }[] = []
  for (const call of made) {
    if (call.kind === 'create') byInode.set(call.inode, { before: null, created: call.start, calls: [] })
    const file = byInode.get(call.inode) ?? null
    if (call.kind === 'sync') syncs.push({ call, file })
    else if (call.name !== null) names.push({ call, file })
    else if (file !== null) file.calls.push(call)
  }
  const kept = keptNames(names, loss.syncs ? syncs : [], loss)
  for (const { call, file } of kept) applyName(call, file, { entries, directories })
  const durable = new Map<TracedFile, number>()
  if (loss.syncs) {
    for (const { call, file } of syncs)
      if (file !== null) durable.set(file, Math.max(durable.get(file) ?? 0, call.at))
  }
  const keep = keeping(loss.random)
  const files = new Map<string, ImageFile>()
  for (const [path, file] of entries) {
    const isAsBefore = file.calls.length === 0 && file.before !== null
    files.set(path, {
      content: isAsBefore
        ? { asBefore: file.before }
        : contentOf(file, { copy: before.copy, durable: durable.get(file) ?? 0, keep }),
      changed: file.calls.at(-1)?.end ?? file.created,
      last: file.calls.at(-1) ?? null,
    })
  }
  return { files, directories }
}

/** Writes an image into a new directory; the files of the first directory come from its copy. */
export function writeImage({ files, directories }: Image, copy: string, directory: string): void {
  mkdirSync(directory)
  for (const path of [...directories].toSorted()) mkdirSync(join(directory, path), { recursive: true })
  for (const [path, { content, changed }] of files) {
    const to = join(directory, path)
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, bytesOf(content, copy))
    const seconds = 1e9 + changed / 1000
    utimesSync(to, seconds, seconds)
  }
}

function bytesOf(content: ImageFile['content'], copy: string): Buffer {
  return Buffer.isBuffer(content) ? content : readFileSync(join(copy, content.asBefore))
}

/** Lists the files of a directory, by path. */
export function filesBelow(directory: string): readonly string[] {
  return below(directory, (entry) => entry.isFile())
}

function directoriesBelow(directory: string): readonly string[] {
  return below(directory, (entry) => entry.isDirectory())
}

function below(
  directory: string,
  matches: (entry: { isFile(): boolean; isDirectory(): boolean }) => boolean,
): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(matches)
    .map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1))
}

interface NameCall {
  readonly call: Call
  readonly file: TracedFile | null
}

/** Returns the changes of names that the file system has kept, in their order. */
function keptNames(
  names: readonly NameCall[],
  syncs: readonly NameCall[],
  { names: order, random }: Loss,
): readonly NameCall[] {
  const isCovered = ({ call, file }: NameCall, sync: NameCall): boolean =>
    call.start < sync.call.at &&
    (sync.call.name === null ? order === 'journal' && file !== null && file === sync.file : true)
  const directoriesOf = ({ call }: NameCall): readonly string[] =>
    [call.name, call.other].filter((path) => path !== null).map((path) => dirname(path))
  const isDurable = (name: NameCall): boolean =>
    directoriesOf(name).every((directory) =>
      syncs.some((sync) => sync.call.name === directory && isCovered(name, sync)),
    ) || syncs.some((sync) => sync.call.name === null && isCovered(name, sync))
  if (order === 'subset') {
    const part = share(random)
    return names.filter((name) => isDurable(name) || random.chance(part))
  }
  const durable = names.findLastIndex(isDurable) + 1
  return names.slice(0, durable + random.below(names.length - durable + 1))
}

function applyName(
  { kind, name, other }: Call,
  file: TracedFile | null,
  { entries, directories }: { entries: Map<string, TracedFile>; directories: Set<string> },
): void {
  if (name === null) return
  switch (kind) {
    case 'create':
      if (file !== null) entries.set(name, file)
      break
    case 'mkdir':
      directories.add(name)
      break
    case 'unlink':
      entries.delete(name)
      break
    case 'rmdir':
      directories.delete(name)
      break
    case 'link': {
      const found = entries.get(name)
      if (found !== undefined && other !== null) entries.set(other, found)
      break
    }
    case 'rename': {
      if (other === null) break
      if (directories.delete(name)) directories.add(other)
      const moved = [...entries].filter(([path]) => path === name || path.startsWith(`${name}/`))
      for (const [path, found] of moved) {
        entries.delete(path)
        entries.set(other + path.slice(name.length), found)
      }
      break
    }
    default:
      break
  }
}

/** Which pieces of what was not synced are kept. */
interface Keeping {
  readonly piece: number
  /** Whether the next piece, or the next change of a size, is kept. */
  next(): boolean
  /** Returns how many of so many calls of a file were made for the disk at all. */
  calls(count: number): number
}

/** Chooses by which rule pieces are kept: none, all, those of the first calls, or any. */
function keeping(random: Random): Keeping {
  const piece = random.pick(PIECES)
  const rule = random.below(6)
  const part = share(random)
  return {
    piece,
    next: () => (rule === 0 ? false : rule <= 2 ? true : random.chance(part)),
    calls: (count) => (rule === 2 || rule === 3 ? random.below(count + 1) : count),
  }
}

/** A probability from a few, so that also nearly nothing and nearly everything is kept. */
function share(random: Random): number {
  return random.pick([0.02, 0.25, 0.5, 0.75, 0.98])
}

function contentOf(
  { before, calls }: TracedFile,
  { copy, durable, keep }: { copy: string; durable: number; keep: Keeping },
): Buffer {
  const content = new Content(before === null ? Buffer.alloc(0) : readFileSync(join(copy, before)))
  const synced = calls.filter(({ start }) => start < durable)
  for (const call of synced) {
    if (call.kind === 'write') content.write(call.at, call.data)
    else content.resize(call.at, call.kind)
  }
  const others = calls.slice(synced.length)
  for (const call of others.slice(0, keep.calls(others.length))) {
    if (call.kind !== 'write') {
      if (keep.next()) content.resize(call.at, call.kind)
      continue
    }
    for (let from = 0; from < call.data.length;) {
      const to = Math.min(call.data.length, from + keep.piece - ((call.at + from) % keep.piece))
      if (keep.next()) content.write(call.at + from, call.data.subarray(from, to))
      from = to
    }
  }
  return content.bytes()
}

/** The bytes of a file, which grow where it is written to. */
class Content {
  #bytes: Buffer
  #size: number

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#size = bytes.length
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  write(at: number, data: Uint8Array): void {
    this.#reach(at + data.length)
    this.#bytes.set(data, at)
    this.#size = Math.max(this.#size, at + data.length)
  }

  resize(size: number, kind: Call['kind']): void {
    if (size >= this.#size) {
      this.#reach(size)
      this.#size = size
    } else if (kind === 'truncate') {
      this.#bytes.fill(0, size, this.#size)
      this.#size = size
    }
  }

  #reach(size: number): void {
    if (size <= this.#bytes.length) return
    const larger = Buffer.alloc(Math.max(size, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#size)
    this.#bytes = larger
  }
}

/** Keeps everything. */
export const NO_LOSS: Random = {
  seed: 0,
  below: (limit) => limit - 1,
  pick: (items) => items.at(-1)!,
  chance: () => true,
}

/** A file that differs from what the calls of a trace say, and the last call that changed it. */
interface Unexplained {
  readonly path: string
  readonly last: Call | null
}

/** Returns a file of a directory that the calls of its trace do not explain: they miss a call, or have one that was not made. */
export function unexplained(
  { directory, before }: { readonly directory: string; readonly before: Before },
  calls: readonly Call[],
): Unexplained | null {
  const { files } = crashImage(before, calls, {
    at: Infinity,
    names: 'journal',
    syncs: true,
    random: NO_LOSS,
  })
  const found = filesBelow(directory)
  for (const path of new Set([...found, ...files.keys()])) {
    const file = files.get(path)
    if (file === undefined || !found.includes(path)) return { path, last: null }
    // The shared memory of SQLite is written without calls, and read by nobody after a restart.
    if (path.endsWith('-shm')) continue
    if (!readFileSync(join(directory, path)).equals(bytesOf(file.content, before.copy)))
      return { path, last: file.last }
  }
  return null
}
