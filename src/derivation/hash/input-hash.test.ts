import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { DerivationKind } from '../definition/derivation-kind.ts'
import { inputHash } from './input-hash.ts'
import { planComputation } from './plan-computation.ts'

const parts = {
  derivationSha256: 'ab'.repeat(32),
  inputs: { zip: '8000', amount: 1.5, note: 'ü"', missing: null, tags: ['b', 'a'], Z: { y: 1e21, x: 0 } },
  hashed: { url: 'https://api.example.com/r?q=8000', body: { b: [1, 'x'], a: null } },
}

test('D24: the input hash is the SHA-256 of the canonical JSON, written out here', () => {
  const canonical =
    '{"body":{"a":null,"b":[1,"x"]},' +
    `"derivation":"${'ab'.repeat(32)}",` +
    '"inputs":{"Z":{"x":0,"y":1e+21},"amount":1.5,"missing":null,"note":"ü\\"","tags":["b","a"],"zip":"8000"},' +
    '"url":"https://api.example.com/r?q=8000"}'
  const expected = `sha256:${createHash('sha256').update(canonical, 'utf8').digest('hex')}`
  assert.equal(inputHash(parts), expected)
})

test('D24: the input hash of a known request is a known value', () => {
  const known = inputHash({
    derivationSha256: '0'.repeat(64),
    inputs: { city: 'Bern' },
    hashed: { url: 'http://h/?q=Bern', body: null },
  })
  // printf '%s' '{"body":null,"derivation":"000…","inputs":{"city":"Bern"},"url":"http://h/?q=Bern"}' | sha256sum
  assert.equal(known, 'sha256:a31c982f82a5374fbaae6caa0a5b47669841f361c98f06148e67aa4a585ace2d')
})

test('D24: the order of keys does not change the input hash', () => {
  const reversed = Object.fromEntries(Object.entries(parts.inputs).toReversed())
  assert.equal(
    inputHash({
      ...parts,
      inputs: reversed,
      hashed: { body: { a: null, b: [1, 'x'] }, url: parts.hashed.url },
    }),
    inputHash(parts),
  )
})

test('H4: each part changes the input hash', () => {
  const hashes = [
    parts,
    { ...parts, derivationSha256: 'cd'.repeat(32) },
    { ...parts, inputs: { ...parts.inputs, zip: '8001' } },
    { ...parts, inputs: { ...parts.inputs, zip: 8000 } },
    { ...parts, hashed: { ...parts.hashed, url: `${parts.hashed.url}&x` } },
    { ...parts, hashed: { ...parts.hashed, body: null } },
    { ...parts, hashed: { ...parts.hashed, query: null } },
  ].map(inputHash)
  assert.equal(new Set(hashes).size, hashes.length)
})

test('D24: members of another kind are put in canonical order among the common ones', () => {
  const hashed = { z: 1, derivation2: true, inputs2: [], a: { d: 1, c: 2 }, j: 'x', É: null }
  const canonical =
    '{"a":{"c":2,"d":1},"derivation":"ab","derivation2":true,"inputs":{"x":1},"inputs2":[],"j":"x","z":1,"É":null}'
  const expected = `sha256:${createHash('sha256').update(canonical, 'utf8').digest('hex')}`
  assert.equal(inputHash({ derivationSha256: 'ab', inputs: { x: 1 }, hashed }), expected)
  const none = `sha256:${createHash('sha256').update('{"derivation":"ab","inputs":{}}').digest('hex')}`
  assert.equal(inputHash({ derivationSha256: 'ab', inputs: {}, hashed: {} }), none)
})

test('a kind cannot hash a member of a reserved name', () => {
  for (const name of ['derivation', 'inputs']) {
    const kind = { name: 'odd', plan: () => ({ outcome: 'run', plan: { hashed: { [name]: 1 } } }) }
    const derivation = {
      kind: kind as unknown as DerivationKind,
      spec: null,
      requiredInputs: [],
      nonEmptyInputs: [],
    }
    assert.throws(() => planComputation(derivation, {}), new RegExp(`kind odd hashes a member "${name}"`))
  }
})
