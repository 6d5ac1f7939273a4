import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderTable, tableOf, type Column } from './table.ts'
import { plainScreen } from './terminal.ts'
import { textWidth } from './text-width.ts'

type Line = Readonly<Record<string, unknown>>

function columns(...names: string[]): Column<Line>[] {
  return names.map((name) => ({ header: name, value: (line) => line[name] }))
}

test('texts are left-aligned and numbers right-aligned, wide characters counted as two', () => {
  const lines = [
    { id: 'JP', name: '日本', area: 377_930 },
    { id: 'VA', name: 'Vatican City', area: 0.44 },
  ]
  assert.deepEqual(tableOf(columns('id', 'name', 'area'), lines, plainScreen()).split('\n'), [
    'id  name            area',
    'JP  日本          377930',
    'VA  Vatican City    0.44',
  ])
})

test('a null shows as nothing, an empty text as quotes, anything else as JSON', () => {
  const lines = [{ a: null, b: '', c: ['x', 1], d: false, e: { f: null } }]
  assert.equal(
    tableOf(columns('a', 'b', 'c', 'd', 'e'), lines, plainScreen()).split('\n')[1],
    '   ""  ["x",1]  false  {"f":null}',
  )
})

test('the widest texts are cut for a narrow screen, numbers never', () => {
  const lines = [{ id: 'CH', text: 'a text that goes on and on and on', more: 'short', area: 12_345_678 }]
  for (const width of [30, 34, 40, 50]) {
    const table = tableOf(columns('id', 'text', 'more', 'area'), lines, plainScreen(width))
    for (const line of table.split('\n')) assert.ok(textWidth(line) <= width, line)
    assert.match(table, /CH {2}a text t.*… {2}short {2}12345678$/m)
  }
})

test('columns that do not fit are left out, and named', () => {
  const names = ['id', 'first', 'second', 'third', 'fourth']
  const line = Object.fromEntries(names.map((name) => [name, `the ${name} value`]))
  const [header = '', note = '', first = ''] = tableOf(columns(...names), [line], plainScreen(32)).split('\n')
  assert.match(header, /^id +first +second$/)
  assert.match(note, /^\(no room for third, fourth\)$/)
  assert.ok(textWidth(first) <= 32)
})

test('a screen with one column gets lines, without an endless loop', () => {
  assert.equal(
    tableOf(columns('id', 'b'), [{ id: 'abc', b: 1 }], plainScreen(1))
      .split('\n')
      .at(-1),
    '…',
  )
})

test('nothing is cut in output to a file, nor is a number that is wider than those before it', () => {
  const table = renderTable(columns('n', 'text'), [{ n: 1, text: 'a' }], plainScreen())
  assert.equal(table.lines([{ n: 1, text: 'a' }]), 'n  text\n1  a\n')
  assert.equal(
    table.lines([{ n: 123_456, text: 'much longer than before' }]),
    '123456  much longer than before\n',
  )
})

test('values and column names cannot contain control sequences or line breaks', () => {
  const table = tableOf(columns('a\u001b[31m'), [{ 'a\u001b[31m': 'x\u001b[2J\ny' }], plainScreen(80))
  assert.equal(table, 'a\\u001b[31m\nx\\u001b[2J⏎y')
})

test('colours are around the text with its spaces, and change no width', () => {
  const shape: Column<Line>[] = [
    { header: 'state', value: ({ state }) => state, style: () => 'red' },
    { header: 'n', value: ({ n }) => n },
  ]
  const [header, line] = tableOf(shape, [{ state: 'ok', n: 1 }], plainScreen(80, { colour: true })).split(
    '\n',
  )
  assert.equal(header, '\u001b[1mstate  n\u001b[22m')
  assert.equal(line, '\u001b[31mok   \u001b[39m  1')
})
