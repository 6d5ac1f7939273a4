import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonSplitter, type JsonItem } from './json-splitter.ts'

function split(pieces: readonly string[], path: readonly string[] = []): JsonItem[] {
  const splitter = new JsonSplitter('data.json', path)
  const items = pieces.flatMap((piece) => [...splitter.push(piece)])
  splitter.end()
  return items
}

test('an array is split into its items, with their numbers and first lines', () => {
  assert.deepEqual(split(['[\n{"a": "]},"},\n\n  {"b":\n[1, {}]}\n, 3]\n']), [
    { text: '{"a": "]},"}', number: 1, line: 2 },
    { text: '{"b":\n[1, {}]}', number: 2, line: 4 },
    { text: '3', number: 3, line: 6 },
  ])
  assert.deepEqual(split([' [ ] ']), [])
})

test('members of objects lead to the array', () => {
  const text = '{"format":"json","x":{"records":[9]},"records":[{"id":"a"}],"next_cursor":null}'
  assert.deepEqual(split([text], ['records']), [{ text: '{"id":"a"}', number: 1, line: 1 }])
  assert.deepEqual(split([text], ['x', 'records']), [{ text: '9', number: 1, line: 1 }])
})

test('the items are the same however the text is chunked', () => {
  const text = '{"x": [1, "\\\\"], "records": [{"a\\"]": "\\u005d"}, [true,\n-1.5e3], null , "s"] , "y": 1}'
  const whole = split([text], ['records'])
  assert.equal(whole.length, 4)
  for (let cut = 0; cut <= text.length; cut += 1) {
    assert.deepEqual(split([text.slice(0, cut), text.slice(cut)], ['records']), whole, `cut at ${cut}`)
  }
  assert.deepEqual(split(Array.from(text), ['records']), whole)
})

const FAULTS: readonly (readonly [text: string, fault: RegExp])[] = [
  ['', /data\.json:1, character 1: the file is empty/],
  ['"x"', /data\.json:1, character 1: the file must be an array of records/],
  ['{}', /data\.json:1, character 2: the file must be an object with an array of records at "a\.b"/],
  ['{"a":1}', /"a" must be an object/],
  ['{"a":{"b":{}}}', /"b" must be an array of records/],
  ['{"a":{},"b":[]}', /the file must be an object with an array of records at "a\.b"/],
  ['{"a":{"b":[],"b":[]}}', /"b" is there twice/],
  ['[\n{}', /data\.json:2, character 3: the file ends too early/],
  ['[{} {}]', /data\.json:1, character 5: not JSON: "\{" is not expected here/],
  ['{"a" 1}', /not JSON: "1" is not expected here/],
  ['{"c":1,\n "x":[2,\n3] "b"}', /data\.json:3, character 4: not JSON: "\\"" is not expected here/],
  ['[{}]\n{}', /data\.json:2, character 1: there is more after the end; .* NDJSON/],
]

for (const [text, fault] of FAULTS) {
  test(`${JSON.stringify(text)} is refused with line and character, however it is chunked`, () => {
    const path = text.startsWith('{') ? ['a', 'b'] : []
    assert.throws(() => split([text], path), fault)
    assert.throws(() => split(Array.from(text), path), fault)
  })
}
