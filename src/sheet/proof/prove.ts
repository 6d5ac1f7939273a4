import { toBase64 } from '../../proof/bytes.ts'
import { erasedLeaf } from '../../proof/erased.ts'
import { parseNote } from '../../proof/checkpoint.ts'
import type { EntryProof } from '../../proof/entry-proof.ts'
import { OperationError, SheetError } from '../../errors/service-error.ts'
import { NODE_LINES, type StoredCheckpoint } from '../../store/log-tree-store.ts'
import type { SheetStore } from '../../store/sheet-store.ts'
import { readProvenance } from '../cells/read-provenance.ts'
import type { Sheet } from '../sheet.ts'
import { LogTree } from '../log/log-tree.ts'

/** A checkpoint of the log, with what its text says. */
export interface LogCheckpoint {
  readonly origin: string
  /** The number of lines that it covers. */
  readonly size: number
  /** The seq of the last of them. */
  readonly seq: number
  /** The root hash of the lines, in base64. */
  readonly root: string
  readonly at: string
  /** The names of the keys that have signed it. */
  readonly signers: readonly string[]
  readonly note: string
}

/** The entry that is proved: by its seq, or the one that explains the value of a cell. */
export type ProvedEntry = { readonly seq: number } | { readonly recordId: string; readonly field: string }

export interface ConsistencyProof {
  readonly from: number
  readonly to: number
  /** In base64. */
  readonly hashes: readonly string[]
}

/** Returns the last checkpoint of the log. Throws SheetError when there is none. */
export async function readCheckpoint(sheet: Sheet): Promise<LogCheckpoint> {
  const { store } = await sheet.current()
  return described(await lastCheckpoint(store))
}

/**
 * Makes a checkpoint of the present log, unless the last one is as good, and returns the last one. Throws SheetError for an empty
 * log, OperationError when it cannot be published.
 */
export async function makeCheckpoint(sheet: Sheet): Promise<LogCheckpoint> {
  const { store } = await sheet.current()
  const checkpoint = await sheet.during(sheet.checkpoints.make(store))
  if (checkpoint === null)
    throw new SheetError('the log is empty, so that there is nothing to cover', 'unknown_checkpoint')
  return described(checkpoint)
}

/**
 * Proves that an entry is in the log of the last checkpoint. Throws SheetError for an entry that there is not, or that no checkpoint
 * covers yet, OperationError for a cell without an entry, and what {@link readProvenance} throws.
 */
export async function proveEntry(sheet: Sheet, entry: ProvedEntry): Promise<EntryProof> {
  const { store } = await sheet.current()
  const cell = 'seq' in entry ? null : await cellOf(sheet, store, entry)
  const seq = 'seq' in entry ? entry.seq : (cell as CellEntry).seq
  const place = await store.tree.placeOf(seq)
  const line = await store.tree.line(seq)
  if (place === null || line === null) throw new SheetError(`the log has no entry ${seq}`, 'unknown_entry')
  if (cell !== null && erasedLeaf(line) !== null) {
    throw new OperationError(
      `values were erased from entry ${seq}, which explains this value, so that its line proves no value any more`,
    )
  }
  const { size, note } = await lastCheckpoint(store)
  if (place.lines > size) {
    throw new SheetError(
      `the last checkpoint covers ${size} lines of the log, and entry ${seq} is line ${place.lines}; make a checkpoint first`,
      'unknown_checkpoint',
    )
  }
  const index = place.lines - 1
  const tree = await grown(store, size)
  const hashes = (await tree.inclusion(index, size)).map(toBase64)
  return { cell: cell?.cell ?? null, seq, line, index, hashes, checkpoint: note }
}

/**
 * Proves that the first `from` lines of the log are the beginning of its first `to` lines, by default those of the last checkpoint.
 * Throws OperationError for numbers that are not in order, or beyond that checkpoint, SheetError when there is none.
 */
export async function proveConsistency(
  sheet: Sheet,
  { from, to: given }: { readonly from: number; readonly to: number | null },
): Promise<ConsistencyProof> {
  const { store } = await sheet.current()
  const { size } = await lastCheckpoint(store)
  const to = given ?? size
  if (from < 1 || from > to || to > size) {
    throw new OperationError(
      `no proof from ${from} to ${to} lines: the first number must be 1 or more, the second not less, and the last checkpoint covers ${size}`,
    )
  }
  const tree = await grown(store, to)
  return { from, to, hashes: (await tree.consistency(from, to)).map(toBase64) }
}

interface CellEntry {
  readonly seq: number
  readonly cell: NonNullable<EntryProof['cell']>
}

/** Returns the entry that explains the value of a cell. */
async function cellOf(
  sheet: Sheet,
  { tree }: SheetStore,
  { recordId, field }: { recordId: string; field: string },
): Promise<CellEntry> {
  const entry = await readProvenance(sheet, { recordId, field })
  if (entry === null) {
    throw new OperationError(
      `the cell ${JSON.stringify(field)} of the record ${JSON.stringify(recordId)} has no entry in the log yet, so that there is nothing to prove`,
    )
  }
  const seq = Number(entry['seq'])
  // The entry has the present name, and the caller perhaps an earlier one.
  const present = typeof entry['field'] === 'string' ? entry['field'] : field
  const name = await tree.nameAt(present, seq)
  return { seq, cell: { record_id: recordId, field: name, value: entry['value'] ?? null } }
}

async function lastCheckpoint({ tree }: SheetStore): Promise<StoredCheckpoint> {
  const checkpoint = await tree.lastCheckpoint()
  if (checkpoint !== null) return checkpoint
  throw new SheetError(
    'the log has no checkpoint yet: one is made at the end of each run, and on request',
    'unknown_checkpoint',
  )
}

/** Returns the tree with the nodes that hashes of so many lines need; a store may have lines that another process has not hashed. */
async function grown({ tree: stored }: SheetStore, lines: number): Promise<LogTree> {
  const tree = new LogTree(stored)
  if ((await stored.end()).lines + NODE_LINES <= lines) await tree.grow()
  return tree
}

function described({ size, seq, note, at }: StoredCheckpoint): LogCheckpoint {
  const read = parseNote(note)
  if (read === null) throw new Error('the store has a checkpoint that is none')
  const signers = read.signatures.map(({ name }) => name)
  return { origin: read.origin, size, seq, root: toBase64(read.root), at, signers, note }
}
