import assert from 'node:assert/strict'
import test from 'node:test'
import {
  crossingsOf,
  curveOf,
  layersOf,
  layOut,
  type GraphDerivation,
  type GraphSizes,
} from './graph-layout.ts'

const SIZES: GraphSizes = { field: 30, target: 50, derivation: 40, width: 100, gapX: 60, gapY: 10 }

const derive = (file: string, inputs: string[], targets: string[]): GraphDerivation => ({
  file,
  inputs,
  targets,
})

const CHAIN = [
  derive('one', ['id'], ['a']),
  derive('two', ['a', 'id'], ['b', 'c']),
  derive('three', ['b', 'id'], ['d']),
]

test('a derivation is placed after all that compute its inputs', () => {
  assert.deepEqual(
    [...layersOf(CHAIN)],
    [
      ['one', 1],
      ['two', 3],
      ['three', 5],
    ],
  )
  // Whatever the order in which they come.
  assert.equal(layersOf(CHAIN.toReversed()).get('three'), 5)
})

test('a derivation without inputs is on the left, and a cycle ends', () => {
  assert.equal(layersOf([derive('none', [], ['a'])]).get('none'), 1)
  assert.ok(layersOf([derive('x', ['b'], ['a']), derive('y', ['a'], ['b'])]).size === 2)
})

test('every field and derivation is drawn once, and every edge goes from left to right', () => {
  const { nodes, edges } = layOut(CHAIN, SIZES)
  assert.deepEqual(nodes.map(({ name }) => name).toSorted(), [
    'a',
    'b',
    'c',
    'd',
    'id',
    'one',
    'three',
    'two',
  ])
  assert.equal(edges.length, 9)
  for (const { points } of edges) {
    points.forEach((point, index) => assert.ok(index === 0 || point.x >= (points[index - 1]?.x ?? 0)))
  }
})

test('nothing overlaps, and everything is within the bounds', () => {
  const many = Array.from({ length: 30 }, (_, n) =>
    derive(`d${n}`, [`in${n % 7}`, `t${n - 5}`], [`t${n}`, `u${n}`]),
  )
  const { nodes, width, height } = layOut(many, SIZES)
  for (const [index, a] of nodes.entries()) {
    assert.ok(a.x >= 0 && a.y >= -1e-6 && a.x + a.width <= width && a.y + a.height <= height + 1e-6, a.name)
    for (const b of nodes.slice(index + 1)) {
      const apart = a.x !== b.x || a.y + a.height <= b.y + 1e-6 || b.y + b.height <= a.y + 1e-6
      assert.ok(apart, `${a.name} and ${b.name}`)
    }
  }
})

test('edges do not cross unnecessarily', () => {
  const { nodes } = layOut(
    [derive('x', ['p'], ['x1']), derive('y', ['q'], ['y1']), derive('z', ['p'], ['z1'])],
    SIZES,
  )
  const derivations = nodes.filter(({ kind }) => kind === 'derivation').toSorted((a, b) => a.y - b.y)
  // y is not between the two that p goes to.
  assert.notEqual(derivations[1]?.name, 'y')
})

test('a straight chain is level', () => {
  const { nodes } = layOut([derive('x', ['p'], ['a']), derive('y', ['a'], ['b'])], SIZES)
  const middles = new Set(nodes.map(({ y, height }) => Math.round(y + height / 2)))
  assert.equal(middles.size, 1)
})

test('an empty sheet makes an empty drawing', () => {
  assert.deepEqual(layOut([], SIZES), { nodes: [], edges: [], width: 0, height: 0 })
})

test('curves are level at both ends', () => {
  assert.equal(
    curveOf([
      { x: 0, y: 0 },
      { x: 60, y: 30 },
    ]),
    'M0 0C30 0 30 30 60 30',
  )
  assert.equal(
    curveOf([
      { x: 0, y: 5 },
      { x: 60, y: 5 },
    ]),
    'M0 5H60',
  )
})

test('crossings of edges are counted', () => {
  assert.equal(crossingsOf([[0], [1]], 2), 0)
  assert.equal(crossingsOf([[1], [0]], 2), 1)
  assert.equal(
    crossingsOf(
      [
        [0, 1],
        [0, 1],
      ],
      2,
    ),
    1,
    'edges with a common end do not cross',
  )
  assert.equal(crossingsOf([[2], [1], [0]], 3), 3)
})

test('counting the crossings of a large layer reads each edge twice', () => {
  let reads = 0
  const counted = (end: number): number[] =>
    Object.defineProperty([0], 0, {
      get: () => {
        reads += 1
        return end
      },
    })
  const size = 5000
  const ends = Array.from({ length: size }, (_, n) => counted(size - 1 - n))
  assert.equal(crossingsOf(ends, size), (size * (size - 1)) / 2)
  assert.equal(reads, 2 * size)
})

test('every node of a large graph is placed', () => {
  const many = Array.from({ length: 300 }, (_, n) =>
    derive(`d${n}`, [`in${n % 20}`, `t${Math.floor(n / 2) - 1}`], [`t${n}`, `u${n}`, `v${n}`]),
  )
  assert.equal(layOut(many, SIZES).nodes.length, 300 * 4 + 20 + 1)
})
