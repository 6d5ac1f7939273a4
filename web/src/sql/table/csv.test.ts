import assert from 'node:assert/strict'
import test from 'node:test'
import { toCsv } from './csv.ts'

const cell = (value: unknown): string => toCsv(['a'], [{ a: value }]).slice('a\r\n'.length, -2)

test('lines end with CR LF, the header is the first', () => {
  assert.equal(
    toCsv(
      ['a', 'b'],
      [
        { a: 1, b: 'x' },
        { a: null, b: true },
      ],
    ),
    'a,b\r\n1,x\r\n,true\r\n',
  )
})

test('commas, quotes and line breaks are quoted', () => {
  assert.equal(cell('a,b'), '"a,b"')
  assert.equal(cell('a "b"'), '"a ""b"""')
  assert.equal(cell('a\nb'), '"a\nb"')
  assert.equal(toCsv(['a,b'], []), '"a,b"\r\n')
})

test('null is empty and an empty text is quoted', () => {
  assert.equal(cell(null), '')
  assert.equal(cell(''), '""')
})

test('arrays and objects are their JSON', () => {
  assert.equal(cell(['a', 1]), '"[""a"",1]"')
  assert.equal(cell({ a: null }), '"{""a"":null}"')
})

test('a text that looks like a formula gets an apostrophe', () => {
  for (const text of ['=1+1', '+cmd', '-2+3', '@SUM(A1)', '\tx', '-']) assert.equal(cell(text), `'${text}`)
  assert.equal(cell('\r=1'), `"'\r=1"`)
  assert.equal(cell('=A1,"x"'), `"'=A1,""x"""`)
  assert.equal(toCsv(['=a'], []), "'=a\r\n")
})

test('numbers are unchanged, also those in texts', () => {
  assert.equal(cell(-5), '-5')
  assert.equal(cell('-9007199254740993'), '-9007199254740993')
  assert.equal(cell('+1.5e-3'), '+1.5e-3')
  assert.equal(cell('-.5'), '-.5')
})
