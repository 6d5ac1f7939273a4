import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { inputHash } from './input-hash.ts'

const parts = {
  derivationSha256: 'ab'.repeat(32),
  inputs: { zip: '8000', amount: 1.5, note: 'ü"', missing: null, tags: ['b', 'a'], Z: { y: 1e21, x: 0 } },
  url: 'https://api.example.com/r?q=8000',
  body: { b: [1, 'x'], a: null },
}

test('D24: the input hash is the SHA-256 of the canonical JSON, written out here by hand', () => {
  const canonical =
    '{"body":{"a":null,"b":[1,"x"]},' +
    `"derivation":"${'ab'.repeat(32)}",` +
    '"inputs":{"Z":{"x":0,"y":1e+21},"amount":1.5,"missing":null,"note":"ü\\"","tags":["b","a"],"zip":"8000"},' +
    '"url":"https://api.example.com/r?q=8000"}'
  const expected = `sha256:${createHash('sha256').update(canonical, 'utf8').digest('hex')}`
  assert.equal(inputHash(parts), expected)
})

test('D24: the input hash of a known request is a known text', () => {
  const known = inputHash({
    derivationSha256: '0'.repeat(64),
    inputs: { city: 'Bern' },
    url: 'http://h/?q=Bern',
    body: null,
  })
  // printf '%s' '{"body":null,"derivation":"000…","inputs":{"city":"Bern"},"url":"http://h/?q=Bern"}' | sha256sum
  assert.equal(known, 'sha256:a31c982f82a5374fbaae6caa0a5b47669841f361c98f06148e67aa4a585ace2d')
})

test('D24: the order of keys does not change the input hash', () => {
  const reversed = Object.fromEntries(Object.entries(parts.inputs).toReversed())
  assert.equal(inputHash({ ...parts, inputs: reversed, body: { a: null, b: [1, 'x'] } }), inputHash(parts))
})

test('H4: each part changes the input hash', () => {
  const hashes = [
    parts,
    { ...parts, derivationSha256: 'cd'.repeat(32) },
    { ...parts, inputs: { ...parts.inputs, zip: '8001' } },
    { ...parts, inputs: { ...parts.inputs, zip: 8000 } },
    { ...parts, url: `${parts.url}&x` },
    { ...parts, body: null },
  ].map(inputHash)
  assert.equal(new Set(hashes).size, hashes.length)
})
