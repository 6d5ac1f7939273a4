import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { tokenizeYaml } from './yaml-tokens.ts'

const line = (text: string): string[] =>
  (tokenizeYaml(text)[0] ?? [])
    .filter(({ kind }) => kind !== 'text')
    .map(({ kind, text: piece }) => `${kind} ${piece}`)

test('keys, strings, numbers and comments are distinguished', () => {
  assert.deepEqual(line('kind: http'), ['key kind', 'mark :'])
  assert.deepEqual(line("  pattern: '^[A-Z]{2}$' # two"), [
    'key pattern',
    'mark :',
    "string '^[A-Z]{2}$'",
    'comment # two',
  ])
  assert.deepEqual(line('maxLength: 100'), ['key maxLength', 'mark :', 'number 100'])
  assert.deepEqual(line('  - name: id'), ['mark -', 'key name', 'mark :'])
  assert.deepEqual(line('# all: of it'), ['comment # all: of it'])
})

test('placeholders are recognized in plain texts and in strings', () => {
  assert.deepEqual(line('url: http://127.0.0.1:4010/{{ id }}/x?a={{b}}'), [
    'key url',
    'mark :',
    'placeholder {{ id }}',
    'placeholder {{b}}',
  ])
  assert.deepEqual(line("note: 'for {{ id }}'"), [
    'key note',
    'mark :',
    "string 'for ",
    'placeholder {{ id }}',
    "string '",
  ])
})

test('a colon or a hash within a text is not a token', () => {
  assert.deepEqual(line('url: http://host/#top'), ['key url', 'mark :'])
  assert.deepEqual(line('Authorization: Bearer a#b'), ['key Authorization', 'mark :'])
})

test('a block of text is a string until it ends', () => {
  const tokens = tokenizeYaml('body_template: |\n  {"a": {{ id }}}\n\n  # no comment\nkind: http')
  assert.deepEqual(
    tokens[1]?.map(({ kind }) => kind),
    ['string', 'placeholder', 'string'],
  )
  assert.equal(tokens[3]?.[0]?.kind, 'string')
  assert.equal(tokens[4]?.[0]?.kind, 'key')
})

test('the tokens together are the text', () => {
  const directory = join(import.meta.dirname, '../../../../examples/countries/derivations')
  const texts = readdirSync(directory).map((file) => readFileSync(join(directory, file), 'utf8'))
  for (const text of [
    ...texts,
    '',
    '\n',
    "a: 'open",
    'a: "\\"',
    '- - x: {{',
    '\t: :\r\n%',
    'key with space: [1, 2]',
  ]) {
    const pieces = tokenizeYaml(text).map((tokens) => tokens.map((token) => token.text).join(''))
    assert.equal(pieces.join('\n'), text)
  }
})
