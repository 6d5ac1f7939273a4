import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseYamlFile } from '../yaml-file.ts'
import { editYaml } from './edit-yaml.ts'
import { editsBetween } from './value-edits.ts'
import type { YamlEdit } from './yaml-edit.ts'

function edited(text: string, ...edits: readonly YamlEdit[]): string {
  return editYaml(text, 'f.yaml', edits)
}

function error(act: () => unknown): { readonly type?: string; readonly message: string } {
  try {
    act()
  } catch (thrown) {
    return thrown as { readonly type?: string; readonly message: string }
  }
  assert.fail('nothing was thrown')
}

test('aliases of what changes are replaced by their values, others stay', () => {
  const text = 'a: &x {k: 1}\nb: &y [1]\nc: *x\nd: *y\n'
  assert.equal(
    edited(text, { op: 'set', path: ['a', 'k'], value: 2 }),
    'a: &x {k: 2}\nb: &y [1]\nc: {k: 1}\nd: *y\n',
  )
  assert.equal(
    edited(text, { op: 'set', path: ['c', 'k'], value: 2 }),
    'a: &x {k: 1}\nb: &y [1]\nc: {k: 2}\nd: *y\n',
  )
  assert.equal(edited(text, { op: 'remove', path: ['b'] }), 'a: &x {k: 1}\nc: *x\nd: [1]\n')
  assert.equal(edited(text, { op: 'set', path: ['d'], value: 3 }), 'a: &x {k: 1}\nb: &y [1]\nc: *x\nd: 3\n')
})

test('items beside each other are inserted by one edit, in brackets and in lines', () => {
  const after = { a: [0, 1, 2, 3], b: [0, 1, 2] }
  for (const [text, expected] of [
    ['a: [1]\nb: []\n', 'a: [0, 1, 2, 3]\nb: [0, 1, 2]\n'],
    ['a:\n  - 1 # one\nb: [\n  1,\n]\n', 'a:\n  - 0\n  - 1 # one\n  - 2\n  - 3\nb: [\n  0,\n  1,\n  2,\n]\n'],
  ] as const) {
    const edits = editsBetween(parseYamlFile(text, 'f.yaml').value, after)
    assert.ok(edits.length <= 4)
    assert.equal(edited(text, ...edits), expected)
  }
})

test('a text with a lone surrogate is refused', () => {
  const value = { k: 'a\ud800' }
  assert.match(
    error(() => edited('a: 1\n', { op: 'set', path: ['a'], value })).message,
    /^a would have a lone surrogate/,
  )
})

test('a tag is removed with the value that it was for', () => {
  assert.equal(edited('a: !!str 5 # five\n', { op: 'set', path: ['a'], value: 6 }), 'a: 6 # five\n')
  assert.equal(edited('a: !!seq\n  - 1\nb: 2\n', { op: 'set', path: ['a'], value: 'x' }), 'a: x\nb: 2\n')
})

test('a text of several lines is a block of lines, also with indented lines and spaces at their ends', () => {
  const set = (text: string, value: string): string => edited(text, { op: 'set', path: ['a'], value })
  const value = 'SELECT\n    max(x) \n\n\t-- all\nFROM records\n'
  const block = 'a: |\n  SELECT\n      max(x) \n\n  \t-- all\n  FROM records\nb: 1\n'
  assert.equal(set('a: |\n  x\nb: 1\n', value), block)
  assert.equal(set('a: x\nb: 1\n', value), block)
  assert.equal(set('a: |\n  xyz\nb: 1\n', 'x\n'), 'a: |\n  x\nb: 1\n')
  assert.equal(set('a: |\n  x\nb: 1\n', 'x\r\ny\n'), 'a: "x\\r\\ny\\n"\nb: 1\n')
})

test('JSON stays JSON', () => {
  const text = '{\n  "a": [1, 2],\n  "b": {}\n}\n'
  assert.equal(
    edited(text, { op: 'set', path: ['c'], value: ['x', null] }, { op: 'set', path: ['b', 'd'], value: 'y' }),
    '{\n  "a": [1, 2],\n  "b": {"d": "y"},\n  "c": ["x", null]\n}\n',
  )
})

test('parts of a text are replaced within its lines, quotes and escapes', () => {
  const replace = (text: string, old: string): string => {
    const value = (parseYamlFile(text, 'f.yaml').value as { readonly a: string }).a
    const start = value.indexOf(old)
    return edited(text, { op: 'text', path: ['a'], edits: [{ start, end: start + old.length, text: 'new' }] })
  }
  assert.equal(replace('a: |\n  SELECT old\n    -- comment\n', 'old'), 'a: |\n  SELECT new\n    -- comment\n')
  assert.equal(replace("a: 'it''s {{ old }}'\n", 'old'), "a: 'it''s {{ new }}'\n")
  assert.equal(replace('a: "one\\n{{ old }}\\ttwo"\n', 'old'), 'a: "one\\n{{ new }}\\ttwo"\n')
  assert.equal(replace('a: >\n  long {{ old }}\n  text\n', 'old'), 'a: >\n  long {{ new }}\n  text\n')
  // The name is written with an escape.
  assert.equal(replace('a: "{{ ol\\x64 }}" # c\n', 'old'), 'a: "{{ new }}" # c\n')
})

test('a value in a form without a place for the change is refused with its line', () => {
  const complex = error(() => edited('b: 1\na: [x: 1]\n', { op: 'set', path: ['a', 0, 'y'], value: 2 }))
  assert.equal(complex.type, 'OperationError')
  assert.match(complex.message, /^f\.yaml:2: a\.0\.y is written in a form that can only be edited by hand/)
  const twice = error(() => edited('a: 1\nb: 2\n', { op: 'rename', path: ['a'], key: 'b' }))
  assert.match(twice.message, /^f\.yaml:1: /)
  assert.equal(error(() => edited('a: [1\n', { op: 'remove', path: ['a'] })).type, 'ContractError')
})

test('an edit that makes a file too large is refused', () => {
  const value = 'x'.repeat(1024 * 1024)
  assert.match(error(() => edited('a: 1\n', { op: 'set', path: ['a'], value })).message, /larger than 1 MiB/)
  // Written out, the aliases would be a million values.
  const tenfold = (name: string, of: string): string =>
    `${name}: &${name} [${Array(10).fill(of).join(', ')}]\n`
  const bomb = ['a', 'b', 'c', 'd'].map((name, index, all) =>
    tenfold(name, index === 0 ? '1' : `*${all[index - 1]}`),
  )
  assert.equal(edited(bomb.join(''), { op: 'remove', path: ['d'] }), bomb.slice(0, 3).join(''))
})

test('a key __proto__ is an ordinary key', () => {
  const text = edited('a: {}\n', { op: 'set', path: ['a', '__proto__'], value: { polluted: true } })
  assert.deepEqual(Object.keys((parseYamlFile(text, 'f.yaml').value as { readonly a: object }).a), [
    '__proto__',
  ])
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
})

test('the edits between two values keep the items that both have', () => {
  const text =
    'list:\n  - name: a # first\n    x: 1\n  - name: b # second\n    x: 2\nwords: [one, two, two]\n'
  const after = {
    list: [{ name: 'c' }, { name: 'b', x: 3 }, { name: 'a', x: 1 }],
    words: ['two', 'three', 'one', 'two'],
  }
  assert.equal(
    edited(text, ...editsBetween(parseYamlFile(text, 'f.yaml').value, after)),
    'list:\n  - name: c\n  - name: b # second\n    x: 3\n  - name: a # first\n    x: 1\nwords: [two, three, one, two]\n',
  )
})
