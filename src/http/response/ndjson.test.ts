import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toNdjson } from './ndjson.ts'

async function lines(text: string): Promise<string> {
  return (await toNdjson(Buffer.from(text))).toString()
}

test('each item of an array is a line, and the text of a value is unchanged', async () => {
  assert.equal(
    await lines('[{"a":1.0},{"a":[1,2,{"b":"x"}]},null,12345678901234567890]'),
    '{"a":1.0}\n{"a":[1,2,{"b":"x"}]}\nnull\n12345678901234567890\n',
  )
  assert.equal(await lines('[1]'), '1\n')
  assert.equal(await lines('[]'), '')
  assert.equal(await lines(' [ ] '), '')
})

test('brackets and commas in a string separate nothing', async () => {
  const items = ['"', '\\', '\\"', ',', '],[', '{', 'a\nb', '\u2028', 'é,😀', '\\\\'].map((text) =>
    JSON.stringify({ [text]: text }),
  )
  assert.equal(await lines(`[${items.join(',')}]`), `${items.join('\n')}\n`)
})

test('line breaks between the parts of a value are left out', async () => {
  assert.equal(await lines('[\n  {\n "a b" :\t[ 1 ,\r\n 2 ] } , 3 ]'), '{"a b":[1,2]}\n3\n')
})

test('a long array is converted in parts, wherever a part ends', async () => {
  const items = Array.from({ length: 9 }, (_, index) =>
    JSON.stringify({ n: index, text: `${'a\\"'.repeat(70_000)}é` }),
  )
  assert.equal(await lines(`[${items.join(' , ')}]`), `${items.join('\n')}\n`)
})
