import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { SheetError, ValidationError } from '../../errors/service-error.ts'
import { parseNotes, type CheckpointNote } from '../../proof/checkpoint.ts'
import { sha256 } from '../../proof/node-primitives.ts'
import { parseKey, type NoteKey } from '../../proof/note-keys.ts'

/** The files that a sheet is verified with; null for none. */
export interface VerifyOptions {
  /** Checkpoints that somebody else has kept. */
  readonly checkpoint: string | null
  /** The public key that must have signed the checkpoints. */
  readonly key: string | null
  /** The file that the records were imported from. */
  readonly source: string | null
  /** The maximum size of an unpacked archive, in bytes. */
  readonly maxBytes: number
}

/** These files, read. */
export interface Given {
  readonly outside: readonly (CheckpointNote | null)[]
  readonly key: NoteKey | null
  readonly source: string | null
}

/** Reads the files. Throws SheetError for one that there is not, ValidationError for one that has no checkpoint or no key. */
export async function readGiven({ checkpoint, key, source }: VerifyOptions): Promise<Given> {
  const outside = checkpoint === null ? [] : parseNotes(await readGivenFile(checkpoint))
  if (checkpoint !== null && outside.length === 0)
    throw new ValidationError(`${basename(checkpoint)} has no checkpoint; give a file with the text of one`)
  const parsed = key === null ? null : parseKey(sha256, await readGivenFile(key))
  if (key !== null && parsed === null) {
    throw new ValidationError(
      `${basename(key)} is not a public key; give a file with one line, "<name>+<id>+<key>"`,
    )
  }
  if (source !== null && statSync(source, { throwIfNoEntry: false })?.isFile() !== true)
    throw new SheetError(`${basename(source)}: there is no such file`, 'unknown_file')
  return { outside, key: parsed, source }
}

/** Reads a text. Throws SheetError where it cannot be read. */
export async function readGivenFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new SheetError(`${basename(path)} cannot be read (${code})`, 'unknown_file')
  }
}
