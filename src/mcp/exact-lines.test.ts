import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { exactLines } from './exact-lines.ts'

async function passed(
  chunks: readonly string[],
  maxBytes = 1000,
): Promise<[passed: string, faults: string[]]> {
  const faults: string[] = []
  const lines = exactLines({ maxBytes, onRefused: (line, fault) => faults.push(`${line.trim()}: ${fault}`) })
  for (const chunk of chunks) lines.write(chunk)
  lines.end()
  return [await text(lines), faults]
}

test('a line with a number that would lose digits is left out, whole or in chunks', async () => {
  const [kept, faults] = await passed([
    '{"a":1}\n{"id":12345678',
    '90123456781}\n{"b":0.1}\n',
    'no JSON\n{"c',
  ])
  assert.equal(kept, '{"a":1}\n{"b":0.1}\nno JSON\n{"c')
  assert.equal(faults.length, 1)
  assert.match(faults[0] ?? '', /^\{"id":1234567890123456781\}: 1234567890123456781 is an integer beyond/)
})

test('a line that is too long is passed on', async () => {
  const [kept, faults] = await passed(
    ['{"a":"', 'x'.repeat(20), '","id":1234567890123456781}\n{"b":1}\n'],
    10,
  )
  assert.equal(kept, `{"a":"${'x'.repeat(20)}","id":1234567890123456781}\n{"b":1}\n`)
  assert.deepEqual(faults, [])
})
