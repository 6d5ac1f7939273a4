import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isConsistent, isEqual, rootFromInclusion, RootHasher } from '../../proof/merkle.ts'
import { sha256 } from '../../proof/node-primitives.ts'
import type { LinePlace, LogTreeStore, TreeNode } from '../../store/log-tree-store.ts'
import { NODE_LINES } from '../../store/log-tree-store.ts'
import { LogTree } from './log-tree.ts'

/** Lines of two nodes of the second level, of some nodes of the first, and of a part of one. */
const LINES = 2 * 65_536 + 5 * NODE_LINES + 77

/** An imported log may leave seqs out. */
const seqOf = (index: number): number => (index < 1000 ? 3 * index + 1 : index + 2001)

/** Returns the index of the first line after a seq. */
const indexAfter = (seq: number): number =>
  seq < seqOf(999) ? Math.ceil(seq / 3) : Math.max(1000, seq - 2000)

const leaves = Array.from({ length: LINES }, (_, index) => sha256(Buffer.from(`line ${index}`)))

/** A store in memory that counts the leaves that it returns. */
class MemoryTree implements Pick<LogTreeStore, 'leaves' | 'end' | 'nodes' | 'before' | 'addNodes'> {
  readonly #nodes = new Map<string, TreeNode>()
  lines = 0
  read = 0

  async leaves(after: number, limit: number) {
    const from = indexAfter(after)
    // Long lines come a few at a time.
    const end = Math.min(from + Math.min(limit, 3000), this.lines)
    this.read += Math.max(0, end - from)
    const some = leaves.slice(from, end)
    return {
      hashes: new Uint8Array(Buffer.concat(some)),
      seqs: Float64Array.from(some, (_, index) => seqOf(from + index)),
      isLast: end === this.lines && end - from < limit,
    }
  }

  async end(): Promise<LinePlace> {
    let number = 0
    while (this.#nodes.has(`8 ${number}`)) number += 1
    return this.before(number)
  }

  async before(number: number): Promise<LinePlace> {
    return { lines: number * NODE_LINES, seq: this.#nodes.get(`8 ${number - 1}`)?.seq ?? 0 }
  }

  async nodes(level: number, from: number, to: number): Promise<Uint8Array[]> {
    const numbers = Array.from({ length: to - from }, (_, index) => from + index)
    return numbers
      .map((number) => this.#nodes.get(`${level} ${number}`)?.hash)
      .filter((hash) => hash !== undefined)
  }

  async addNodes(nodes: readonly TreeNode[]): Promise<void> {
    for (const node of nodes) this.#nodes.set(`${node.level} ${node.number}`, node)
  }
}

const SIZES = [
  0,
  1,
  2,
  77,
  255,
  256,
  257,
  300,
  1000,
  65_535,
  65_536,
  65_537,
  66_000,
  100_000,
  131_072,
  131_073,
  LINES - 1,
  LINES,
]

/** Root hashes of the first leaves, by their number. */
const roots = ((hasher) =>
  new Map(
    SIZES.map((size) => {
      while (hasher.size < size) hasher.add(leaves[hasher.size] as Uint8Array)
      return [size, hasher.root()]
    }),
  ))(new RootHasher(sha256))

function rootOf(size: number): Uint8Array {
  const root = roots.get(size)
  assert.ok(root)
  return root
}

test('hashes of a tree that grew in steps are those of its leaves', async () => {
  const store = new MemoryTree()
  const tree = new LogTree(store as unknown as LogTreeStore)
  for (const lines of [0, 1, 255, 256, 257, 65_535, 65_537, LINES]) {
    store.lines = lines
    const last = lines === 0 ? 0 : seqOf(lines - 1)
    assert.deepEqual(await tree.grow(), { lines, seq: last })
    assert.ok(isEqual(await tree.root(lines), rootOf(lines)), String(lines))
  }
  for (const size of SIZES) {
    assert.ok(isEqual(await tree.root(size), rootOf(size)), String(size))
  }
})

/** A store to which a line is written at each read. */
class BusyTree extends MemoryTree {
  override async leaves(after: number, limit: number) {
    const found = await super.leaves(after, limit)
    this.lines += 1
    return found
  }
}

test('lines that are written while a log is hashed are for the next time', async () => {
  const store = new BusyTree()
  store.lines = 1000
  const tree = new LogTree(store as unknown as LogTreeStore)
  assert.deepEqual(await tree.grow(), { lines: 1000, seq: seqOf(999) })
})

test('proofs hold, and read the lines of two nodes at most', async () => {
  const store = new MemoryTree()
  store.lines = LINES
  const tree = new LogTree(store as unknown as LogTreeStore)
  await tree.grow()
  const root = rootOf(LINES)
  for (const index of [0, 1, 255, 256, 65_535, 65_536, 70_001, 131_071, 131_072, LINES - 100, LINES - 1]) {
    store.read = 0
    const proof = await tree.inclusion(index, LINES)
    assert.ok(store.read <= 2 * NODE_LINES, `${store.read} leaves for ${index}`)
    const found = rootFromInclusion(sha256, { leaf: leaves[index] as Uint8Array, index, size: LINES, proof })
    assert.ok(found !== null && isEqual(found, root), String(index))
  }
  for (const from of SIZES.slice(1)) {
    const proof = await tree.consistency(from, LINES)
    assert.ok(isConsistent(sha256, { from, size: LINES, old: rootOf(from), root, proof }), String(from))
  }
})
