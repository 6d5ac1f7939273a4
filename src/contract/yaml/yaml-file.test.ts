import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractError } from '../../errors/service-error.ts'
import { parseYamlFile } from './yaml-file.ts'

function valueError(text: string): string {
  try {
    parseYamlFile(text, 'file.yaml')
  } catch (error) {
    assert.ok(error instanceof ContractError, String(error))
    return error.message
  }
  assert.fail(`no fault in ${text.slice(0, 80)}`)
}

test('values are those of YAML 1.2: dates and yes stay text', () => {
  const { value } = parseYamlFile(
    'a: 2024-01-01\nb: yes\nc: 0o14\nd: [1, 1.5, null, ~, true]\ne:\n',
    'f.yaml',
  )
  assert.deepEqual(value, { a: '2024-01-01', b: 'yes', c: 12, d: [1, 1.5, null, null, true], e: null })
})

test('an empty file and a file with a byte order mark are read', () => {
  assert.equal(parseYamlFile('', 'f.yaml').value, null)
  assert.deepEqual(parseYamlFile('\uFEFFa: 1', 'f.yaml').value, { a: 1 })
})

test('lineOf finds the key or list item, inside aliases too, and else the nearest ancestor', () => {
  const yaml = parseYamlFile('a: 1\nb:\n  - x\n  - c: &anchor\n      d: 2\ne: *anchor\n', 'f.yaml')
  const lines = [
    ['a'],
    ['b'],
    ['b', 0],
    ['b', 1, 'c'],
    ['b', 1, 'c', 'd'],
    ['e', 'd'],
    ['b', 9],
    ['b', 1, 'x'],
    [],
  ]
  assert.deepEqual(
    lines.map((path) => yaml.lineOf(path)),
    [1, 2, 3, 4, 5, 5, 2, 4, 1],
  )
})

test('fail names file and line', () => {
  const yaml = parseYamlFile('a: 1\nb: 2\n', 'f.yaml')
  assert.throws(() => yaml.fail(['b'], 'is wrong'), {
    name: 'Error',
    type: 'ContractError',
    message: 'f.yaml:2: is wrong',
    inFile: { file: 'f.yaml', line: 2, message: 'is wrong' },
  })
})

test('values other than plain data are refused with their line', () => {
  assert.match(valueError('a: 1\nb: 2\na: 3\n'), /^file\.yaml:3: the key a is there twice/)
  assert.match(valueError('a: 1\nb: [1'), /^file\.yaml:2: /)
  assert.match(valueError('a: 1\nb: .inf'), /^file\.yaml:2: Infinity is not a JSON number/)
  assert.match(valueError('a: 1\nb: .nan'), /^file\.yaml:2: NaN is not a JSON number/)
  assert.match(valueError('a: 1e999'), /^file\.yaml:1: /)
  assert.match(valueError('a: !!binary aGk='), /^file\.yaml:1: /)
  assert.match(valueError('a: !own 1'), /^file\.yaml:1: /)
  assert.match(valueError('? [a]\n: 1'), /^file\.yaml:1: /)
  assert.match(valueError('a: "\\ud800"'), /^file\.yaml:1: a lone surrogate/)
  assert.match(valueError('a: 1\n---\nb: 2'), /^file\.yaml:2: a second document/)
  assert.match(valueError('a: *nowhere'), /nowhere/)
})

test('a key __proto__ is an ordinary key', () => {
  const { value } = parseYamlFile('__proto__: {polluted: true}', 'f.yaml')
  assert.deepEqual(Object.keys(value as object), ['__proto__'])
  assert.equal(Object.getPrototypeOf(value), Object.prototype)
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
})

test('a file that takes long to read or much memory is refused', () => {
  const tenfold = (name: string, of: string): string =>
    `${name}: &${name} [${Array(10).fill(of).join(', ')}]\n`
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const bomb = names.map((name, index) => tenfold(name, index === 0 ? '1' : `*${names[index - 1]}`)).join('')
  assert.match(valueError(bomb), /^file\.yaml:5: more than 100000 values/)
  const text = `a: &a ${'x'.repeat(1000)}\n`
  assert.match(
    valueError(`${text}b: [${'*a, '.repeat(2000)}]`),
    /^file\.yaml:2: more than 1048576 characters/,
  )
  assert.match(valueError('a: &x [*x]'), /^file\.yaml:1: the alias \*x stands inside what it stands for/)
  assert.match(valueError('['.repeat(50_000)), /^file\.yaml:1: nested more than 100 levels/)
  assert.match(valueError('- '.repeat(30_000)), /^file\.yaml:1: nested more than 100 levels/)
  assert.match(valueError('['.repeat(150) + ']'.repeat(150)), /nested more than 100 levels/)
  assert.match(valueError(`a: ${'x'.repeat(1024 * 1024)}`), /larger than 1 MiB/)
  assert.match(valueError('- 1\n'.repeat(30_000)), /more than 125000 tokens/)
  assert.match(valueError(`a: |\n${'\n'.repeat(60_000)}`), /more than 50000 lines/)
  assert.match(
    valueError(`${'%TAG !a! tag:x\n'.repeat(20)}---\na: 1`),
    /^file\.yaml:11: more than 10 directives/,
  )
})

test('expanded aliases may be as deep as written-out values', () => {
  const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  assert.doesNotThrow(() => parseYamlFile(`a: &a ${deep(98)}\nb: [*a]`, 'f.yaml'))
  assert.match(valueError(`a: &a ${deep(98)}\nb: [[[*a]]]`), /^file\.yaml:2: nested more than 100 levels/)
})

test('an anchor may be used any number of times, and redefined', () => {
  const { value } = parseYamlFile(`a: &x 1\nb: [${'*x, '.repeat(300)}]\nc: &x 2\nd: *x`, 'f.yaml')
  assert.deepEqual(value, { a: 1, b: Array(300).fill(1), c: 2, d: 2 })
  assert.deepEqual(parseYamlFile('&k a: [1]\nb: *k', 'f.yaml').value, { a: [1], b: 'a' })
})

test('control characters are refused with their line, and so is text in UTF-16', () => {
  assert.match(valueError('a: 1\nb: "x\0"'), /^file\.yaml:2: the control character U\+0000/)
  assert.match(valueError('a: 1\nb: \u001b[31m'), /^file\.yaml:2: the control character U\+001B/)
  assert.match(valueError(Buffer.from('a: 1', 'utf16le').toString()), /U\+0000.*UTF-8/)
})

test('only the first error is reported', () => {
  assert.match(valueError(`a: "${'\\q'.repeat(1000)}"`), /^file\.yaml:1: Invalid escape sequence \\q$/)
  assert.match(valueError(']\n'.repeat(1000)), /^file\.yaml:1: /)
  assert.match(valueError('...\n'.repeat(1000)), /^file\.yaml:2: a second document/)
})
