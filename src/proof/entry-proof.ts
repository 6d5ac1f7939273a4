import { fromBase64, utf8 } from './bytes.ts'
import {
  parseNote,
  signatureState,
  type Checkpoint,
  type CheckpointNote,
  type VerifySignature,
} from './checkpoint.ts'
import { erasedLeaf } from './erased.ts'
import { isEqual, leafHash, rootFromInclusion, HASH_BYTES, type Sha256 } from './merkle.ts'
import type { NoteKey } from './note-keys.ts'

/**
 * The proof that an entry is in the log of a sheet, as JSON: the file of `colophon proof`, and the response of
 * `GET /api/log/proof`. It shows that the line was there when its checkpoint was made; not that no later line changed the cell.
 */
export interface EntryProof {
  /** The cell whose value the entry explains, with the name that its field had right after the entry; null where the proof is of an entry alone. */
  readonly cell: { readonly record_id: string; readonly field: string; readonly value: unknown } | null
  readonly seq: number
  /** The text of the line, without its line break. */
  readonly line: string
  /** The number of lines before it. */
  readonly index: number
  /** The inclusion proof of RFC 6962, in base64. */
  readonly hashes: readonly string[]
  /** The text of the checkpoint. */
  readonly checkpoint: string
}

/** The outcome of checking a proof, in the order of what it means to its reader. */
export interface CheckedProof {
  readonly proof: EntryProof
  readonly checkpoint: CheckpointNote
  /** The parts that do not hold, each a sentence; empty for a proof that holds. */
  readonly faults: readonly string[]
  /** Whether values were erased from the line: then it is proved that there was a line, and not what is left of it. */
  readonly isErased: boolean
  /** The way in which the line gives the value; null where the proof is of an entry alone. */
  readonly value: 'in the line' | 'in an imported file' | 'by a conversion' | null
  readonly signature: 'signed' | 'invalid' | 'none' | 'unchecked'
}

/** The functions that differ between Node.js and a page. */
export interface Primitives {
  readonly sha256: Sha256
  readonly verify: VerifySignature
}

/** Reads the text of a proof; null for anything else. */
export function parseProof(
  text: string,
): { readonly proof: EntryProof; readonly checkpoint: CheckpointNote } | null {
  const proof = parsed(text)
  if (!isObject(proof)) return null
  const { cell = null, seq, line, index, hashes, checkpoint } = proof
  if (typeof line !== 'string' || typeof checkpoint !== 'string' || !isTexts(hashes)) return null
  if (!Number.isSafeInteger(seq) || !Number.isSafeInteger(index) || !isCell(cell)) return null
  const note = parseNote(checkpoint)
  if (note === null || hashes.some((hash) => fromBase64(hash)?.length !== HASH_BYTES)) return null
  return {
    proof: { cell, seq: seq as number, line, index: index as number, hashes, checkpoint },
    checkpoint: note,
  }
}

/** Checks a proof that {@link parseProof} has read; with a key also the signature of its checkpoint. */
export function checkProof(
  { sha256, verify }: Primitives,
  { proof, checkpoint }: { readonly proof: EntryProof; readonly checkpoint: CheckpointNote },
  key: NoteKey | null,
): CheckedProof {
  const { cell, seq, line, index } = proof
  const faults: string[] = []
  const erased = erasedLeaf(line)
  const root = rootFromInclusion(sha256, {
    leaf: erased ?? leafHash(sha256, utf8(line)),
    index,
    size: checkpoint.size,
    proof: proof.hashes.map((hash) => fromBase64(hash) ?? new Uint8Array()),
  })
  if (root === null) {
    faults.push(
      `It has ${proof.hashes.length} hashes, which is no proof for line ${index + 1} of ${checkpoint.size}.`,
    )
  } else if (!isEqual(root, checkpoint.root)) {
    faults.push(
      `The line is not line ${index + 1} of the log of the checkpoint: line, place or hashes were changed.`,
    )
  }
  const entry = parsed(line)
  const value = cell === null ? null : erased === null ? valueFault(entry, cell) : ERASED
  if (!isObject(entry) || entry['seq'] !== seq) faults.push(`The line does not have the seq ${seq}.`)
  else if (value !== null && value.fault !== null) faults.push(value.fault)
  const signature = key === null ? 'unchecked' : signatureState(checkpoint, key, verify)
  if (signature === 'invalid')
    faults.push(`The signature of ${key?.name ?? ''} is not one of this checkpoint.`)
  if (signature === 'none') faults.push(`The checkpoint has no signature of the key ${key?.name ?? ''}.`)
  return {
    proof,
    checkpoint,
    faults,
    isErased: erased !== null,
    value: value?.place ?? null,
    signature,
  }
}

/** Compares a checkpoint with one that somebody has kept. */
export function compareCheckpoints(
  one: Checkpoint,
  kept: Checkpoint,
): 'same' | 'other-log' | 'other-size' | 'contradicts' {
  if (one.origin !== kept.origin) return 'other-log'
  if (one.size !== kept.size) return 'other-size'
  return isEqual(one.root, kept.root) ? 'same' : 'contradicts'
}

/** Whatever is left of such a line, anybody can have written. */
const ERASED = {
  place: null,
  fault: 'Values were erased from the line, so that it proves no value any more.',
}

/** Compares the cell of a proof with its line. */
function valueFault(
  entry: unknown,
  { record_id: id, field, value }: NonNullable<EntryProof['cell']>,
): { readonly place: CheckedProof['value']; readonly fault: string | null } {
  const line = isObject(entry) ? lineOfRecord(entry, id) : {}
  // A looked-up cell has this source too, and a record.
  if (line['source'] === 'import' && line['record_id'] === undefined)
    return { place: 'in an imported file', fault: null }
  // Of a conversion the line has the field, and the value is that of an earlier line as another type.
  const { converted } = line
  if (line['source'] === 'contract' && isObject(converted) && Object.hasOwn(converted, field))
    return { place: 'by a conversion', fault: null }
  const place = 'in the line'
  if (line['record_id'] !== id)
    return { place, fault: `The line is not about the record ${JSON.stringify(id)}.` }
  const values = line['values']
  const known =
    line['field'] === field
      ? { value: line['value'] ?? null }
      : isObject(values) && Object.hasOwn(values, field)
        ? { value: values[field] ?? null }
        : null
  if (known === null) return { place, fault: `The line has no value of the field ${JSON.stringify(field)}.` }
  const isSame = canonical(known.value) === canonical(value)
  return {
    place,
    fault: isSame
      ? null
      : `The line has another value of the field ${JSON.stringify(field)}: ${JSON.stringify(known.value)}.`,
  }
}

/** Returns what a line with imported records says of one of them; any other line as it is. */
function lineOfRecord(line: Record<string, unknown>, id: string): Record<string, unknown> {
  const { fields, rows } = line
  if (line['source'] !== 'import' || !isTexts(fields) || !Array.isArray(rows)) return line
  const place = fields.indexOf('id')
  const row: unknown = rows.find((one: unknown) => Array.isArray(one) && one[place] === id)
  if (!Array.isArray(row)) return { ...line, record_id: null }
  const values = Object.fromEntries(fields.map((name, index): [string, unknown] => [name, row[index]]))
  return { ...line, record_id: id, values }
}

/** Returns JSON text that is the same for equal values. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isCell(value: unknown): value is EntryProof['cell'] {
  if (value === null) return true
  return (
    isObject(value) &&
    typeof value['record_id'] === 'string' &&
    typeof value['field'] === 'string' &&
    'value' in value
  )
}
