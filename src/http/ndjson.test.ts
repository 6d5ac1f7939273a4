import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toNdjson } from './ndjson.ts'

function lines(text: string): string {
  return toNdjson(Buffer.from(text)).toString()
}

test('each item of an array is a line, and the text of a value stays as it is', () => {
  assert.equal(
    lines('[{"a":1.0},{"a":[1,2,{"b":"x"}]},null,12345678901234567890]'),
    '{"a":1.0}\n{"a":[1,2,{"b":"x"}]}\nnull\n12345678901234567890\n',
  )
  assert.equal(lines('[1]'), '1\n')
  assert.equal(lines('[]'), '')
  assert.equal(lines(' [ ] '), '')
})

test('what stands in a string divides nothing', () => {
  const items = ['"', '\\', '\\"', ',', '],[', '{', 'a\nb', '\u2028', 'é,😀', '\\\\'].map((text) =>
    JSON.stringify({ [text]: text }),
  )
  assert.equal(lines(`[${items.join(',')}]`), `${items.join('\n')}\n`)
})

test('line breaks between the parts of a value are left out', () => {
  assert.equal(lines('[\n  {\n "a b" :\t[ 1 ,\r\n 2 ] } , 3 ]'), '{"a b":[1,2]}\n3\n')
})
