import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { bytesEntry, zipOf } from './zip-stream.ts'

test('a file that cannot be read completely ends the archive with an error', async () => {
  const reason = new Error('the disk is gone')
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(100_000, 'x')
    throw reason
  }
  const modified = new Date()
  const entries = [
    bytesEntry('whole.txt', 'whole', modified),
    { name: 'half.txt', modified, open: () => Readable.from(failing()) },
  ]
  await assert.rejects(async () => {
    for await (const chunk of zipOf(entries)) assert.ok(chunk.length > 0)
  }, reason)
})

test('nothing stays open when the reader of an archive stops in the middle', async () => {
  const file = Readable.from([Buffer.alloc(1_000_000)])
  for await (const chunk of zipOf([{ name: 'large', modified: new Date(), open: () => file }])) {
    assert.ok(chunk.length > 0)
    break
  }
  assert.ok(file.destroyed)
})
