import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SheetError } from '../../errors/service-error.ts'
import { parseNotes } from '../../proof/checkpoint.ts'
import { noCalls } from '../calls/no-calls.ts'
import { checkStoreFiles } from '../definition/check-store-files.ts'
import { migrateCopy, withStoreTexts, type StoreTexts } from '../definition/other-store.ts'
import { CHECKPOINT_FILE, inFile } from '../../store/sheet-files/checkpoint-file.ts'
import { checkSheetDirectory, openSheet } from '../open-sheet.ts'
import { isStoreUrl } from '../store-url.ts'
import { unpackArchive } from '../transfer/unpack-archive.ts'
import { Differences, type Difference } from './differences.ts'
import { readGiven, type Given, type VerifyOptions } from './given-files.ts'
import { sameTexts } from './same-texts.ts'
import { verifyLog, type LogReport } from './verify-log.ts'

export type { Difference, VerifyOptions }

/** The result of verifying a sheet. */
export interface Verification extends LogReport {
  readonly differences: { readonly count: number; readonly listed: readonly Difference[] }
}

/**
 * Verifies a sheet in a directory, at the URL of a store, or in an archive, and changes nothing of it: replays its log, and compares the
 * result with the records, and the log with the checkpoints. Throws SheetError when there is no sheet or no such file, ValidationError for a damaged
 * archive and for files that are no checkpoints or no key, RecordsError for a store that cannot be read.
 */
export async function verifySheet(path: string, options: VerifyOptions): Promise<Verification> {
  const given = await readGiven(options)
  if (isStoreUrl(path)) {
    return inTemporary(async (directory) => {
      const sheet = await openSheet(path, { transport: noCalls() })
      try {
        const { store } = await sheet.deriving()
        await store.snapshot(directory)
      } finally {
        await sheet.close()
      }
      return verifyDirectory(directory, given)
    })
  }
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) {
    return inTemporary((directory) => verifyArchive(path, { directory, given, maxBytes: options.maxBytes }))
  }
  checkSheetDirectory(path)
  return verifyDirectory(resolve(path), given)
}

async function inTemporary<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-verify-'))
  try {
    return await work(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Verifies the sheet in a directory, whose log must be that of its store. */
async function verifyDirectory(directory: string, given: Given): Promise<Verification> {
  checkStore(directory)
  return withStoreTexts(directory, (store) => {
    const differences = new Differences()
    return verifyStore(store, { directory, given, differences, records: store.records() })
  })
}

/** Verifies an archive, all of whose files must be those of its store. */
async function verifyArchive(
  path: string,
  {
    directory,
    given,
    maxBytes,
  }: { readonly directory: string; readonly given: Given; readonly maxBytes: number },
): Promise<Verification> {
  const { manifest } = await unpackArchive({ path, name: basename(path) }, directory, {
    maxBytes,
    signal: null,
    withRecording: true,
  })
  checkStore(directory)
  await migrateCopy(directory)
  return withStoreTexts(directory, async (store) => {
    const differences = new Differences()
    // Without a byte order mark, which the stored text does not have.
    const contract = new TextDecoder().decode(await readFile(join(directory, 'contract.yaml')))
    if (contract !== store.contract.text)
      differences.file('contract.yaml: is not the one that the store follows')
    const records = sameTexts(join(directory, 'records.jsonl'), store.records(), {
      textOf: (text) => text,
      differences,
    })
    const verified = await verifyStore(store, { directory, given, differences, records })
    for (const [name, named, found] of [
      ['records', manifest.records, verified.records.records],
      ['last_seq', manifest.lastSeq, verified.lastSeq],
    ] as const) {
      if (named !== found) differences.file(`colophon.json: "${name}" is ${named}, and not ${found}`)
    }
    return { ...verified, differences }
  })
}

/** Throws SheetError for a sheet without a store. */
function checkStore(directory: string): void {
  checkStoreFiles(directory)
  if (existsSync(join(directory, 'sheet.db'))) return
  throw new SheetError(
    'the sheet has no sheet.db, so that it has no log of its own yet; open it once, for example with "colophon status"',
    'not_a_sheet',
  )
}

async function verifyStore(
  store: StoreTexts,
  {
    directory,
    given: { outside, key, source },
    differences,
    records,
  }: {
    readonly directory: string
    readonly given: Given
    readonly differences: Differences
    readonly records: Iterable<string>
  },
): Promise<Verification> {
  const imported = join(directory, 'records.jsonl')
  const log = join(directory, LOG_FILE)
  let rest: number | null = null
  const lines = sameTexts(log, store.lines(), {
    textOf: ({ text }) => text,
    differences,
    onRest: store.isShared ? (offset) => (rest = offset) : undefined,
  })
  const notes = store.checkpoints().map(inFile).join('')
  const report = verifyLog(
    {
      lines,
      records,
      historyAfter: store.historyAfter,
      source: source ?? (existsSync(imported) ? imported : null),
      checkpoints: { own: parseNotes(notes), outside, key },
    },
    differences,
  )
  const { lastSeq } = report
  if (
    rest !== null &&
    !(await isSoon(
      directory,
      () => restOf(log, rest ?? 0),
      (later, text) => hasLines(later, lastSeq, text),
    ))
  )
    differences.file(`${LOG_FILE}: goes on after the line ${lastSeq}, the last one of the store`)
  const noted = join(directory, CHECKPOINT_FILE)
  const read = (): string => (existsSync(noted) ? readFileSync(noted, 'utf8') : '')
  const isSame = store.isShared
    ? await isSoon(directory, read, (later, text) => text === later.checkpoints().map(inFile).join(''))
    : read() === notes
  if (!isSame) differences.file(`${CHECKPOINT_FILE}: has not the checkpoints that the store has`)
  return { ...report, differences }
}

const LOG_FILE = 'provenance.jsonl'

const TRIES = 20
const WAIT_MS = 100

/**
 * Whether a file is soon as its store has it: a process that uses the store writes to the file before it commits. The file is read first, so that only a transaction under way makes a
 * difference.
 */
async function isSoon<T>(
  directory: string,
  read: () => T,
  isAs: (store: StoreTexts, text: T) => boolean,
): Promise<boolean> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const text = read()
    if (await withStoreTexts(directory, async (store) => isAs(store, text))) return true
    await delay(WAIT_MS)
  }
  return false
}

/** Returns the bytes of a file from an offset on. */
function restOf(path: string, offset: number): Buffer {
  const { size } = statSync(path)
  const bytes = Buffer.alloc(Math.max(0, Math.min(size - offset, MOST_REST)))
  const fd = openSync(path, 'r')
  try {
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, offset))
  } finally {
    closeSync(fd)
  }
}

/** The most bytes that a process is expected to have written while a sheet was verified. */
const MOST_REST = 256 * 1024 * 1024

/** Whether the lines of a store after a seq begin with a text. */
function hasLines(store: StoreTexts, seq: number, text: Buffer): boolean {
  let offset = 0
  for (const line of store.lines(seq)) {
    if (offset >= text.length) break
    const bytes = Buffer.from(`${line.text}\n`)
    if (!text.subarray(offset, offset + bytes.length).equals(bytes)) return false
    offset += bytes.length
  }
  return offset >= text.length
}
