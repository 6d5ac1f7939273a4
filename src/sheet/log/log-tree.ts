import {
  HASH_BYTES,
  inclusionParts,
  consistencyParts,
  parentHash,
  RootHasher,
  splitOf,
  type Leaves,
} from '../../proof/merkle.ts'
import { sha256 } from '../../proof/node-primitives.ts'
import {
  NODE_LINES,
  TREE_LEVELS,
  type LeafHashes,
  type LinePlace,
  type LogTreeStore,
  type TreeNode,
} from '../../store/log-tree-store.ts'

/** Lines whose leaves are read at once: their nodes take a millisecond or two of this thread. */
const LINES_AT_ONCE = 4 * NODE_LINES

/** Nodes that are stored at once, each time in a transaction. */
const NODES_AT_ONCE = 64

const [LOWEST, ...HIGHER] = TREE_LEVELS

/**
 * Computes hashes of the Merkle tree of the log. Nodes are stored when a hash of a tree is needed that has them, and not when lines
 * are written: writing costs nothing, and a later hash needs the lines of a few nodes only.
 */
export class LogTree {
  readonly #store: LogTreeStore

  constructor(store: LogTreeStore) {
    this.#store = store
  }

  /** Stores the nodes of all lines that are complete, and returns how many lines there are. */
  async grow(): Promise<LinePlace> {
    const { lines, seq } = await this.#store.end()
    let number = lines / NODE_LINES
    /** The lines after the last complete node. */
    let rest: readonly Leaf[] = []
    let nodes: TreeNode[] = []
    for (let last = seq; ;) {
      const read = await this.#store.leaves(last, LINES_AT_ONCE)
      last = read.seqs.at(-1) ?? last
      rest = [...rest, ...leavesOf(read)]
      for (; rest.length >= NODE_LINES; rest = rest.slice(NODE_LINES)) {
        const own = rest.slice(0, NODE_LINES)
        nodes.push({
          level: LOWEST,
          number,
          seq: own.at(-1)?.seq ?? 0,
          hash: rootOf(own.map(({ hash }) => hash)),
        })
        number += 1
      }
      if (nodes.length >= NODES_AT_ONCE || (read.isLast && nodes.length > 0)) {
        await this.#store.addNodes(nodes)
        await this.#addHigher(nodes)
        nodes = []
      }
      // Lines that are written meanwhile are for the next time: otherwise a busy writer would keep this going.
      if (read.isLast) return { lines: number * NODE_LINES + rest.length, seq: last }
    }
  }

  /** Stores the nodes of the levels above that have become complete. */
  async #addHigher(added: readonly TreeNode[]): Promise<void> {
    let below = added
    for (const [index, level] of HIGHER.entries()) {
      const lower = TREE_LEVELS[index] ?? LOWEST
      const count = 2 ** (level - lower)
      const above: TreeNode[] = []
      for (const { number, seq } of below) {
        if ((number + 1) % count !== 0) continue
        const children = await this.#store.nodes(lower, number + 1 - count, number + 1)
        above.push({ level, number: (number + 1) / count - 1, seq, hash: rootOf(children) })
      }
      if (above.length === 0) return
      await this.#store.addNodes(above)
      below = above
    }
  }

  /** Returns the root hash of the first lines. Call {@link grow} first. */
  root(size: number): Promise<Uint8Array> {
    return new Hashes(this.#store).of({ start: 0, end: size })
  }

  /** Returns the proof that the leaf with an index is in the tree of so many lines. Call {@link grow} first. */
  inclusion(index: number, size: number): Promise<Uint8Array[]> {
    return new Hashes(this.#store).all(inclusionParts(index, size))
  }

  /** Returns the proof that the tree of `from` lines is the beginning of that of `size` lines. Call {@link grow} first. */
  consistency(from: number, size: number): Promise<Uint8Array[]> {
    return new Hashes(this.#store).all(consistencyParts(from, size))
  }
}

/** Computes hashes of parts of a tree, and reads the leaves of each node once. */
class Hashes {
  readonly #store: LogTreeStore
  /** Leaves by the number of their node. */
  readonly #leaves = new Map<number, readonly Uint8Array[]>()

  constructor(store: LogTreeStore) {
    this.#store = store
  }

  async all(parts: readonly Leaves[]): Promise<Uint8Array[]> {
    const hashes: Uint8Array[] = []
    for (const part of parts) hashes.push(await this.of(part))
    return hashes
  }

  /** Returns the root hash of a part of the tree as proofs have it: complete, or one that ends with the last line. */
  async of({ start, end }: Leaves): Promise<Uint8Array> {
    const count = end - start
    if (count < NODE_LINES) {
      const leaves = await this.#leavesOf(Math.floor(start / NODE_LINES))
      return rootOf(only(count, leaves.slice(start % NODE_LINES)))
    }
    if (Number.isInteger(Math.log2(count))) {
      const level = TREE_LEVELS.findLast((each) => count % 2 ** each === 0) ?? LOWEST
      const [from, to] = [start / 2 ** level, end / 2 ** level]
      return rootOf(only(to - from, await this.#store.nodes(level, from, to)))
    }
    const middle = start + splitOf(count)
    const left = await this.of({ start, end: middle })
    return parentHash(sha256, left, await this.of({ start: middle, end }))
  }

  async #leavesOf(node: number): Promise<readonly Uint8Array[]> {
    const known = this.#leaves.get(node)
    if (known !== undefined) return known
    const leaves: Uint8Array[] = []
    // Long lines come a few at a time.
    for (let { seq } = await this.#store.before(node); leaves.length < NODE_LINES;) {
      const read = await this.#store.leaves(seq, NODE_LINES - leaves.length)
      leaves.push(...leavesOf(read).map(({ hash }) => hash))
      if (read.isLast) break
      seq = read.seqs.at(-1) as number
    }
    this.#leaves.set(node, leaves)
    return leaves
  }
}

/** Returns the root hash of leaves, or of nodes of one level. */
function rootOf(hashes: readonly Uint8Array[]): Uint8Array {
  const hasher = new RootHasher(sha256)
  for (const hash of hashes) hasher.add(hash)
  return hasher.root()
}

interface Leaf {
  readonly seq: number
  readonly hash: Uint8Array
}

function leavesOf({ seqs, hashes }: LeafHashes): Leaf[] {
  return Array.from(seqs, (seq, index) => ({
    seq,
    hash: hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  }))
}

/** Returns the first hashes. Throws Error where there are fewer. */
function only(count: number, hashes: readonly Uint8Array[]): readonly Uint8Array[] {
  if (hashes.length < count) throw new Error(`the tree of the log has ${hashes.length} of ${count} hashes`)
  return hashes.slice(0, count)
}
