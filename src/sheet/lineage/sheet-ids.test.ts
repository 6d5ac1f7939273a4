import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sheetUuid, uuidOf } from './sheet-ids.ts'

test('a UUID of a name is that of RFC 9562', () => {
  // The example of the RFC, A.4: www.example.com in the namespace of DNS.
  assert.equal(
    uuidOf('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com'),
    '2ed6657d-e927-568b-95e1-2665a8aea6a2',
  )
})

test('the UUID of a sheet depends on its key and does not show it', () => {
  const key = Uint8Array.from({ length: 32 }, (_, index) => index)
  const uuid = sheetUuid({ cursorKey: key })
  assert.equal(sheetUuid({ cursorKey: key }), uuid)
  assert.notEqual(sheetUuid({ cursorKey: key.toReversed() }), uuid)
  assert.ok(!uuid.includes('00010203'))
})
