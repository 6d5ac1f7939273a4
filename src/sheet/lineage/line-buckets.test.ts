import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { LineBuckets } from './line-buckets.ts'

test('lines of a record are in one bucket and in their order, whatever their number and length', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-buckets-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  // As for a log of a million lines.
  const buckets = new LineBuckets(directory, 1_000_000)
  t.after(() => buckets.close())
  for (let index = 0; index < 2000; index += 1) {
    const text = `${index % 100} ${index} ${'ü'.repeat(index % 700)}\n`
    buckets.add(`r${index % 100}`, Buffer.from(text))
  }
  const found = new Map<string, number[]>()
  const bucketOf = new Map<string, number>()
  let number = 0
  for (const lines of buckets.all()) {
    number += 1
    for (const bytes of lines) {
      const [record = '', index, text = ''] = Buffer.from(bytes).toString().split(' ')
      assert.equal(text.length, Number(index) % 700)
      assert.equal(bucketOf.get(record) ?? number, number)
      bucketOf.set(record, number)
      found.set(record, [...(found.get(record) ?? []), Number(index)])
    }
  }
  assert.equal(number, 20)
  assert.ok(new Set(bucketOf.values()).size > 10)
  assert.equal(found.size, 100)
  for (const [record, indexes] of found) {
    assert.deepEqual(
      indexes,
      Array.from({ length: 20 }, (_, round) => round * 100 + Number(record)),
    )
  }
})
