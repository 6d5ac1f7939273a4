/**
 * The Merkle tree of the log, as a store keeps it: its leaves are the lines in their order, and of its nodes only some levels
 * are stored, each node once its lines are complete. Lines are never changed, so that a stored node is right for ever.
 */
export interface LogTreeStore {
  /** Returns the leaves of the lines after a seq, at least one where there is one, and at most so many. */
  leaves(after: number, limit: number): Promise<LeafHashes>
  /** Returns the lines that the stored nodes of the lowest level cover. */
  end(): Promise<LinePlace>
  /** Returns the hashes of the stored nodes of a level from a number up to, but not including, another. */
  nodes(level: number, from: number, to: number): Promise<readonly Uint8Array[]>
  /** Returns the last line that the stored nodes of the lowest level before this number cover. */
  before(number: number): Promise<LinePlace>
  /** Returns the place of the line with a seq; null where there is no such line. */
  placeOf(seq: number): Promise<LinePlace | null>
  /** Returns the text of the line with a seq, without its line break; null where there is no such line. */
  line(seq: number): Promise<string | null>
  /** Returns the name that a present field had right after the line with a seq. */
  nameAt(field: string, seq: number): Promise<string>
  /** Stores nodes; those that are stored already stay. */
  addNodes(nodes: readonly TreeNode[]): Promise<void>
  /** Returns the last checkpoint; null for none. */
  lastCheckpoint(): Promise<StoredCheckpoint | null>
  /**
   * Stores a checkpoint, unless the last one is of a later state, or of the same one and this one has no signature more. Returns
   * whether it was stored.
   */
  addCheckpoint(checkpoint: NewCheckpoint): Promise<boolean>
}

/** The levels whose nodes are stored: a node of level n has 2^n lines. */
export const TREE_LEVELS = [8, 12, 16, 20, 24] as const

/** The lines of a node of the lowest level that is stored. */
export const NODE_LINES: number = 2 ** TREE_LEVELS[0]

/** Hashes of leaves one after the other, 32 bytes each, and the seqs of their lines. */
export interface LeafHashes {
  readonly hashes: Uint8Array
  readonly seqs: Float64Array
  /** Whether no line followed when they were read. */
  readonly isLast: boolean
}

/** The lines of the log up to one. */
export interface LinePlace {
  /** The number of these lines. */
  readonly lines: number
  /** The seq of the last of them; 0 for none. */
  readonly seq: number
}

export interface TreeNode {
  readonly level: number
  /** The place of the node among those of its level, from 0. */
  readonly number: number
  /** The seq of its last line. */
  readonly seq: number
  readonly hash: Uint8Array
}

export interface NewCheckpoint {
  readonly size: number
  /** The seq of the last line that it covers. */
  readonly seq: number
  /** The text of the checkpoint. */
  readonly note: string
  readonly isSigned: boolean
}

export interface StoredCheckpoint extends NewCheckpoint {
  /** Ascends in the order of checkpoints. */
  readonly number: number
  /** The time when it was made, UTC with milliseconds. */
  readonly at: string
}
