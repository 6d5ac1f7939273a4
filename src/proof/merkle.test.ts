import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  consistencyParts,
  inclusionParts,
  isConsistent,
  leafHash,
  rootFromInclusion,
  RootHasher,
  type Leaves,
} from './merkle.ts'
import { sha256 } from './node-primitives.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const digest = (...parts: readonly Uint8Array[]): Uint8Array =>
  parts.reduce((all, part) => all.update(part), createHash('sha256')).digest()

const lines = Array.from({ length: 2000 }, (_, index) => Buffer.from(`{"seq":${index + 1}}`))

const known = new Map<string, Uint8Array>()

/** Returns the hash of leaves as RFC 6962 writes it, section 2.1, each computed once: independent of the code under test. */
function oracle({ start, end }: Leaves): Uint8Array {
  const count = end - start
  if (count === 0) return digest()
  if (count === 1) return digest(Uint8Array.of(0), lines[start] as Uint8Array)
  const key = `${start}-${end}`
  const middle = start + 2 ** Math.floor(Math.log2(count - 1))
  const hash =
    known.get(key) ?? digest(Uint8Array.of(1), oracle({ start, end: middle }), oracle({ start: middle, end }))
  known.set(key, hash)
  return hash
}

test('the root hashes are those that the reference of Certificate Transparency publishes', () => {
  const inputs = [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ]
  const roots = [
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ]
  const hasher = new RootHasher(sha256)
  assert.equal(hex(hasher.root()), roots[0])
  for (const [index, input] of inputs.entries()) {
    hasher.add(leafHash(sha256, Buffer.from(input, 'hex')))
    assert.equal(hex(hasher.root()), roots[index + 1])
  }
  assert.equal(hasher.size, 8)
})

test('the root hash of 0 to 2,000 leaves is that of the recursive definition', () => {
  const hasher = new RootHasher(sha256)
  for (const [size, line] of lines.entries()) {
    assert.equal(hex(hasher.root()), hex(oracle({ start: 0, end: size })))
    hasher.add(leafHash(sha256, line))
  }
  assert.equal(hex(hasher.root()), hex(oracle({ start: 0, end: lines.length })))
})

test('a proof gives the root for its leaf, and for no other leaf, place, size or path', () => {
  for (const size of [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 100]) {
    const root = hex(oracle({ start: 0, end: size }))
    for (let index = 0; index < size; index += 1) {
      const leaf = leafHash(sha256, lines[index] as Uint8Array)
      const proof = inclusionParts(index, size).map((part) => oracle(part))
      const result = rootFromInclusion(sha256, { leaf, index, size, proof })
      assert.equal(result === null ? null : hex(result), root)
      const wrong = [
        { leaf: leafHash(sha256, Buffer.from('other')), index, size, proof },
        { leaf, index, size, proof: [...proof, leaf] },
        { leaf, index: size, size, proof },
        { leaf, index: -1, size, proof },
        { leaf, index: 0.5, size, proof },
        ...proof.map((_, at) => ({ leaf, index, size, proof: proof.with(at, leaf.toReversed()) })),
        ...(size > 1 ? [{ leaf, index: index ^ 1, size, proof }] : []),
      ]
      for (const attempt of wrong) {
        const other = rootFromInclusion(sha256, attempt)
        assert.notEqual(other === null ? null : hex(other), root, JSON.stringify({ size, index }))
      }
    }
  }
})

test('a proof shows that a smaller tree is the beginning, and no other tree', () => {
  for (let size = 1; size <= 65; size += 1) {
    const root = oracle({ start: 0, end: size })
    for (let from = 1; from <= size; from += 1) {
      const old = oracle({ start: 0, end: from })
      const proof = consistencyParts(from, size).map((part) => oracle(part))
      assert.ok(isConsistent(sha256, { from, size, old, root, proof }), `${from} of ${size}`)
      const bad = root.toReversed()
      for (const attempt of [
        { from, size, old: bad, root, proof },
        { from, size, old, root: bad, proof },
        { from, size, old, root, proof: [...proof, bad] },
        { from: from + 1, size, old, root, proof },
        { from: 0, size, old, root, proof },
        ...proof.map((_, at) => ({ from, size, old, root, proof: proof.with(at, bad) })),
      ]) {
        assert.ok(!isConsistent(sha256, attempt), `${attempt.from} of ${size}`)
      }
    }
  }
})

test('the proof of the reference of Certificate Transparency has the published parts', () => {
  // https://www.rfc-editor.org/rfc/rfc6962#section-2.1.3, the tree of seven leaves.
  const part = (start: number, end: number): Leaves => ({ start, end })
  assert.deepEqual(inclusionParts(0, 7), [part(1, 2), part(2, 4), part(4, 7)])
  assert.deepEqual(inclusionParts(3, 7), [part(2, 3), part(0, 2), part(4, 7)])
  assert.deepEqual(inclusionParts(4, 7), [part(5, 6), part(6, 7), part(0, 4)])
  assert.deepEqual(inclusionParts(6, 7), [part(4, 6), part(0, 4)])
  assert.deepEqual(consistencyParts(3, 7), [part(2, 3), part(3, 4), part(0, 2), part(4, 7)])
  assert.deepEqual(consistencyParts(4, 7), [part(4, 7)])
  assert.deepEqual(consistencyParts(6, 7), [part(4, 6), part(6, 7), part(0, 4)])
})

test('a leaf or a tree that there is not has no proof', () => {
  assert.throws(() => inclusionParts(3, 3), RangeError)
  assert.throws(() => consistencyParts(4, 3), RangeError)
  assert.throws(() => consistencyParts(0, 3), RangeError)
})
