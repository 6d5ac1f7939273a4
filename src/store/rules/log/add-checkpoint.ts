import type { NewCheckpoint, StoredCheckpoint, TreeNode } from '../../log-tree-store.ts'
import { insertCheckpoint, insertNodes, LAST_CHECKPOINT } from '../../rows/log-tree.ts'
import { load, type Steps } from '../steps.ts'
import type { StoreChange } from '../store-change.ts'

/** Stores a checkpoint where the last one is not as good; see {@link LogTreeStore.addCheckpoint}. */
export function* addCheckpoint({ db, at }: StoreChange, checkpoint: NewCheckpoint): Steps<boolean> {
  const last = yield* load(db.query(LAST_CHECKPOINT))
  if (last !== null && !isBetter(checkpoint, last)) return false
  yield* load(db.change(insertCheckpoint({ ...checkpoint, number: (last?.number ?? 0) + 1, at })))
  return true
}

function isBetter(checkpoint: NewCheckpoint, last: StoredCheckpoint): boolean {
  // Two processes that make the first checkpoint name the log differently.
  if (originOf(checkpoint) !== originOf(last)) return false
  return checkpoint.size === last.size ? checkpoint.isSigned && !last.isSigned : checkpoint.size > last.size
}

function originOf({ note }: NewCheckpoint): string {
  return note.slice(0, note.indexOf('\n'))
}

/** Stores nodes of the Merkle tree; those that are stored already stay. */
export function* addNodes({ db }: StoreChange, nodes: readonly TreeNode[]): Steps<void> {
  yield* load(db.change(insertNodes(nodes)))
}
