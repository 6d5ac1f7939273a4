import {
  appendFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { parseNotes, type CheckpointNote } from '../../proof/checkpoint.ts'
import { isEqual, RootHasher } from '../../proof/merkle.ts'
import { leafOfLine, sha256 } from '../../proof/node-primitives.ts'
import { fileError, RecordsError } from '../../errors/service-error.ts'
import { adviceFor, systemCode } from '../../errors/system-code.ts'
import type { StoredCheckpoint } from '../log-tree-store.ts'

/** The file of a sheet's directory with the checkpoints of its log, one after the other, each followed by an empty line. */
export const CHECKPOINT_FILE = 'checkpoints.txt'

/** Returns a checkpoint as it is in the file. */
export function inFile(note: string): string {
  return `${note}\n`
}

/**
 * Adds a checkpoint to the file at a path, or writes the file anew where it is not as it was left. `before` are the
 * checkpoints before it, and `bytes` is their size in the file. The bytes are on the disk when it returns; the store has the durable
 * copy. Throws RecordsError where it cannot be written.
 */
export function addToFile(
  path: string,
  note: string,
  { before, bytes }: { before: () => readonly string[]; bytes: number },
): void {
  if (isAsLeft(path, bytes)) onFile(() => appendFileSync(path, inFile(note), { flush: true }))
  else writeAnew(path, [...before(), note])
}

/**
 * Writes the file at a path anew where its size is not that of the checkpoints of the store, such as after a crash: a checkpoint is
 * added to the file before it is committed. Throws RecordsError where it cannot be written.
 */
export function repairFile(
  path: string,
  { notes, bytes }: { notes: () => readonly string[]; bytes: number },
): void {
  if (!isAsLeft(path, bytes)) writeAnew(path, notes())
}

/** Whether the file at a path has this size, or is not there and has none. */
function isAsLeft(path: string, bytes: number): boolean {
  const found = onFile(() => lstatSync(path, { throwIfNoEntry: false }))
  return found === undefined ? bytes === 0 : found.isFile() && found.size === bytes
}

/** Writes the file at a path anew, with these checkpoints. Throws RecordsError where it cannot be written. */
export function writeAnew(path: string, notes: readonly string[]): void {
  onFile(() => {
    // A link might lead anywhere: it is replaced.
    const building = `${path}-new`
    rmSync(building, { force: true })
    writeFileSync(building, notes.map(inFile).join(''), { flag: 'wx', flush: true })
    renameSync(building, path)
  })
}

function onFile<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    const code = systemCode(error)
    if (code === undefined) throw error
    throw new RecordsError(`${CHECKPOINT_FILE} cannot be written (${code}); ${adviceFor(code)}`)
  }
}

/** The checkpoints of a log that is imported. Each must be one of that log. */
export class ImportedCheckpoints {
  readonly #notes: CheckpointNote[]
  readonly #hasher = new RootHasher(sha256)
  #number = 0

  /** Reads the file at a path, which may be absent. Throws RecordsError for a text that is no checkpoint. */
  constructor(path: string) {
    const notes = existsSync(path) ? parseNotes(readFileSync(path, 'utf8')) : []
    const broken = notes.indexOf(null)
    if (broken !== -1) throw refused(`its checkpoint ${broken + 1} is not one`)
    this.#notes = notes.filter((note) => note !== null)
  }

  /** Takes the next line of the log, and returns the checkpoints that end with it. Throws RecordsError for one that does not hold. */
  *afterLine(
    text: string,
    { seq, at }: { readonly seq: number; readonly at: string },
  ): Generator<StoredCheckpoint> {
    if (this.#notes.length === 0) return
    this.#hasher.add(leafOfLine(text))
    const { size } = this.#hasher
    for (let note = this.#notes[0]; note !== undefined && note.size <= size; note = this.#notes[0]) {
      this.#notes.shift()
      if (note.size !== size || !isEqual(note.root, this.#hasher.root())) {
        throw refused(`provenance.jsonl is not the log of its checkpoint of ${note.size} lines`)
      }
      this.#number += 1
      yield { number: this.#number, size, seq, isSigned: note.signatures.length > 0, note: note.text, at }
    }
  }

  /** Throws RecordsError where a checkpoint is of more lines than there were. */
  end(): void {
    const [note] = this.#notes
    if (note === undefined) return
    throw refused(`it has a checkpoint of ${note.size} lines, and provenance.jsonl has ${this.#hasher.size}`)
  }
}

function refused(fault: string): RecordsError {
  const message = `${fault}; restore both files, or move ${CHECKPOINT_FILE} away to begin without checkpoints`
  return new RecordsError(
    ...fileError({ file: CHECKPOINT_FILE, line: null, message }, 'invalid_records_file'),
  )
}
