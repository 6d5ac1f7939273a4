import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RawJson, rawMembers } from './raw-json.ts'
import { stringifyInParts } from './stringify-in-parts.ts'

function read(text: string): { members: Record<string, string> | null; parts: number } {
  const steps = rawMembers(Buffer.from(text))
  for (let parts = 1; ; parts += 1) {
    const { done, value } = steps.next()
    if (done !== true) continue
    if (value === null) return { members: null, parts }
    return { members: Object.fromEntries([...value].map(([name, json]) => [name, json.toString()])), parts }
  }
}

test('the members of an object are found without parsing them', () => {
  const members = {
    a: '1',
    b: '"x\\"},\\\\"',
    'c"\\': '{"a":[{"b":"]}"}],"c":"}"}',
    é: '[1,[2],"[",{}]',
    ['__proto__']: 'null',
    t: 'true',
    e: '""',
  }
  const names = Object.keys(members) as (keyof typeof members)[]
  for (const space of ['', ' ', '\n\t ']) {
    const text = names.map(
      (name) => `${space}${JSON.stringify(name)}${space}:${space}${members[name]}${space}`,
    )
    assert.deepEqual(read(`${space}{${text.join()}}`).members, { ...members })
  }
  assert.deepEqual(read('{}').members, {})
  assert.deepEqual(read('{"a":1,"a":2}').members, { a: '2' })
})

test('a text that is not a complete object has no members', () => {
  for (const text of ['', '1', '[]', '"{}"', '{', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":"x', '{"a" 1}'])
    assert.equal(read(text).members, null, text)
})

test('long values are scanned in parts', () => {
  const list = `[${'1,'.repeat(1 << 20)}1]`
  const quotes = JSON.stringify('"'.repeat(1 << 20))
  const found = read(`{"list":${list},"quotes":${quotes}}`)
  assert.ok(found.members?.['list'] === list && found.members['quotes'] === quotes)
  assert.ok(found.parts >= 16, `${found.parts} parts`)
})

test('a value that is kept as text is serialized as this text, in parts', () => {
  const text = JSON.stringify('aé€😀'.repeat(50_000))
  const value = { a: [1, new RawJson(Buffer.from(text))], b: 'x' }
  const parts = [...stringifyInParts(value)]
  assert.equal(parts.join(''), `{"a":[1,${text}],"b":"x"}`)
  assert.equal(JSON.stringify(value), parts.join(''))
  assert.ok(parts.length > 10, `${parts.length} parts`)
})
