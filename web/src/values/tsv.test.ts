import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTsv, writeTsv } from './tsv.ts'

const texts = (text: string): string[][] => parseTsv(text).map((row) => row.map((cell) => cell.text))

test('written values are parsed back, with no value and an empty text distinguished', () => {
  const rows = [
    ['a', null, ''],
    ['tab\there', 'two\nlines', 'say "hi"'],
    ['"', '""', ' spaces '],
    ['cr\rlf\r\nend', '=1+1', "'"],
    [null, null, null],
  ]
  const read = parseTsv(writeTsv(rows)).map((row) =>
    row.map(({ text, quoted }) => (text === '' && !quoted ? null : text)),
  )
  assert.deepEqual(read, rows)
})

test('plain values are written without quotes, as in spreadsheets', () => {
  assert.equal(writeTsv([['a b', "it's", '1,5']]), "a b\tit's\t1,5")
  assert.equal(writeTsv([['x"y', 'p\tq']]), '"x""y"\t"p\tq"')
})

test('a cell without a value is a line, so that pasting it clears', () => {
  assert.equal(writeTsv([[null]]), '\n')
  assert.deepEqual(texts('\n'), [['']])
})

test('an empty text has no cells at all', () => {
  assert.deepEqual(parseTsv(''), [])
  assert.equal(writeTsv([]), '')
})

test('line breaks of every system end a line, and one at the end begins none', () => {
  assert.deepEqual(texts('a\tb\r\nc\td\r\n'), [
    ['a', 'b'],
    ['c', 'd'],
  ])
  assert.deepEqual(texts('a\nb\rc'), [['a'], ['b'], ['c']])
  assert.deepEqual(texts('a\n\nb\n'), [['a'], [''], ['b']])
})

test('a tab at the end is an empty cell', () => {
  assert.deepEqual(texts('a\t'), [['a', '']])
  assert.deepEqual(texts('\ta'), [['', 'a']])
  assert.deepEqual(texts('a\t\nb\t'), [
    ['a', ''],
    ['b', ''],
  ])
  assert.deepEqual(texts('\t'), [['', '']])
})

test('quotes within a cell are part of it', () => {
  assert.deepEqual(texts('5" pipe\tx'), [['5" pipe', 'x']])
  assert.deepEqual(texts('"a" and "b"\tx'), [['"a" and "b"', 'x']])
  assert.deepEqual(texts('"open\tx'), [['"open', 'x']])
  assert.deepEqual(texts('"'), [['"']])
  assert.deepEqual(texts('"""'), [['"""']])
})

test('a quoted cell may contain tabs and lines', () => {
  assert.deepEqual(texts('"a\tb\n""c"""\tx\ny'), [['a\tb\n"c"', 'x'], ['y']])
})

test('many unclosed quotes are parsed in linear time', () => {
  const text = '"a '.repeat(50_000)
  assert.deepEqual(texts(text), [[text]])
})
