import { fromBase64, joined, toBase64, utf8 } from './bytes.ts'
import { HASH_BYTES, isEqual } from './merkle.ts'
import type { NoteKey } from './note-keys.ts'

/**
 * A state of a log: its first `size` lines have this root hash. Its text is a checkpoint as C2SP defines it (tlog-checkpoint),
 * in a signed note (signed-note); without a signature it has the same form.
 */
export interface Checkpoint {
  /** A name that no other log has. */
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
}

/** A signature of a note: by the name and the id of its key. */
export interface NoteSignature {
  readonly name: string
  readonly id: Uint8Array
  /** An Ed25519 signature: 64 bytes. */
  readonly signature: Uint8Array
}

export interface CheckpointNote extends Checkpoint {
  /** The signed part: origin, size and root, a line each. */
  readonly body: string
  readonly signatures: readonly NoteSignature[]
  /** The whole note. */
  readonly text: string
}

/** Whether an Ed25519 signature of a message (RFC 8032) is that of a public key. */
export type VerifySignature = (message: Uint8Array, signature: Uint8Array, key: Uint8Array) => boolean

const ID_BYTES = 4
const SIGNATURE_START = '— '
const SIZE = /^(?:0|[1-9]\d{0,15})$/

/** Returns the part of a checkpoint that is signed. */
export function checkpointBody({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`
}

/** Returns the text of a checkpoint with its signatures, which may be none. */
export function formatNote(body: string, signatures: readonly NoteSignature[]): string {
  const lines = signatures.map(
    ({ name, id, signature }) => `${SIGNATURE_START}${name} ${toBase64(joined(id, signature))}\n`,
  )
  return [body, '\n', ...lines].join('')
}

/**
 * Reads checkpoints from a text, each of which begins after the signatures of the one before, or an empty line. Returns null
 * at the place of one that is none.
 */
export function parseNotes(text: string): (CheckpointNote | null)[] {
  const notes: (CheckpointNote | null)[] = []
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  for (let at = 0; at < lines.length;) {
    if (lines[at] === '') {
      at += 1
      continue
    }
    const start = at
    while (at < lines.length && lines[at] !== '') at += 1
    const bodyEnd = at
    at += 1
    while (lines[at]?.startsWith(SIGNATURE_START) === true) at += 1
    notes.push(noteOf(lines.slice(start, bodyEnd), lines.slice(bodyEnd + 1, at)))
  }
  return notes
}

/** Reads one checkpoint; null for any other text. */
export function parseNote(text: string): CheckpointNote | null {
  const notes = parseNotes(text)
  return notes.length === 1 ? (notes[0] ?? null) : null
}

function noteOf(body: readonly string[], signatures: readonly string[]): CheckpointNote | null {
  const [origin = '', size = '', root = ''] = body
  const hash = fromBase64(root)
  if (origin === '' || !SIZE.test(size) || !Number.isSafeInteger(Number(size))) return null
  if (hash?.length !== HASH_BYTES) return null
  const read = signatures.map((line) => signatureOf(line))
  if (read.some((signature) => signature === null)) return null
  const bodyText = `${body.join('\n')}\n`
  return {
    origin,
    size: Number(size),
    root: hash,
    body: bodyText,
    signatures: read.filter((signature) => signature !== null),
    text: [bodyText, '\n', ...signatures.map((line) => `${line}\n`)].join(''),
  }
}

function signatureOf(line: string): NoteSignature | null {
  const [name = '', encoded = '', ...others] = line.slice(SIGNATURE_START.length).split(' ')
  const bytes = fromBase64(encoded)
  if (name === '' || others.length > 0 || bytes === null || bytes.length <= ID_BYTES) return null
  return { name, id: bytes.subarray(0, ID_BYTES), signature: bytes.subarray(ID_BYTES) }
}

/** Whether a key has signed a checkpoint; `invalid` where a signature in its name is not one. */
export function signatureState(
  note: CheckpointNote,
  key: NoteKey,
  verify: VerifySignature,
): 'signed' | 'invalid' | 'none' {
  const own = note.signatures.filter(({ name, id }) => name === key.name && isEqual(id, key.id))
  if (own.length === 0) return 'none'
  return own.every(({ signature }) => verify(utf8(note.body), signature, key.bytes)) ? 'signed' : 'invalid'
}
