import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractError } from '../../errors/service-error.ts'
import type { Derivation } from './derivation-kind.ts'
import { orderDerivations } from './graph.ts'
import { createKinds } from '../kinds.ts'
import { StubTransport } from '../transport/network/stub-transport.ts'

const kind = createKinds({ transport: new StubTransport({ responses: new Map() }) }).get('http')!

function derivation(file: string, inputs: string[], targets: string[]): Derivation {
  const of = {
    file,
    sha256: '',
    text: '',
    kind,
    spec: null,
    resources: [],
    sourcePaths: [],
    formulas: [],
    sheetPaths: [],
    sources: null,
    reads: null,
    refusal: null,
  }
  return { ...of, targets, inputs, requiredInputs: [], nonEmptyInputs: [], retryFailedAfterMs: null }
}

function order(...derivations: Derivation[]): string[][] {
  return orderDerivations(derivations).map((level) => level.map(({ file }) => file))
}

test('D27: a derivation is in a level after those whose targets are its inputs', () => {
  const levels = order(
    derivation('a-last.yaml', ['geo', 'price'], ['label']),
    derivation('b-price.yaml', ['geo'], ['price', 'tax']),
    derivation('c-geo.yaml', ['city'], ['geo']),
    derivation('d-alone.yaml', [], ['rate']),
  )
  assert.deepEqual(levels, [['c-geo.yaml', 'd-alone.yaml'], ['b-price.yaml'], ['a-last.yaml']])
})

test('no derivations make no levels, and independent ones make one level in the given order', () => {
  assert.deepEqual(order(), [])
  assert.deepEqual(order(derivation('b.yaml', ['x'], ['b']), derivation('a.yaml', ['x'], ['a'])), [
    ['b.yaml', 'a.yaml'],
  ])
})

test('D20: two derivations for one target are a ContractError that names both files', () => {
  const act = (): unknown => order(derivation('a.yaml', [], ['x', 'y']), derivation('b.yaml', [], ['y']))
  assert.throws(act, ContractError)
  assert.throws(act, /^Error: derivations\/a\.yaml and derivations\/b\.yaml both have the target "y"/)
})

test('D20: a cycle is reported field by field, with its files and without derivations that only lead to it', () => {
  const act = (): unknown =>
    order(
      derivation('lead-in.yaml', ['a'], ['z']),
      derivation('one.yaml', ['c', 'plain'], ['a', 'side']),
      derivation('two.yaml', ['a'], ['b']),
      derivation('three.yaml', ['b'], ['c']),
    )
  assert.throws(act, ContractError)
  assert.throws(act, (error: Error) => {
    const cycle = /cycle: (\S+) -> (\S+) -> (\S+) -> (\S+) \((.*)\)/.exec(error.message)
    assert.ok(cycle, error.message)
    const [, first, ...rest] = cycle
    assert.equal(rest[2], first)
    const flow: Record<string, string> = { a: 'b', b: 'c', c: 'a' }
    assert.equal(rest[0], flow[first ?? ''])
    assert.equal(rest[1], flow[rest[0] ?? ''])
    for (const file of ['one', 'two', 'three'])
      assert.match(error.message, new RegExp(`derivations/${file}\\.yaml`))
    assert.doesNotMatch(error.message, /lead-in|side|plain/)
    return true
  })
})

test('D20: a cycle through the second target of a derivation is found', () => {
  assert.throws(
    () => order(derivation('one.yaml', ['p'], ['x', 'y']), derivation('two.yaml', ['y'], ['p'])),
    /cycle: (?:y -> p -> y|p -> y -> p) \(/,
  )
})

test('D20: a target that is its own input is a cycle', () => {
  assert.throws(
    () => order(derivation('self.yaml', ['x'], ['x'])),
    /cycle: x -> x \(derivations\/self\.yaml\)/,
  )
})
