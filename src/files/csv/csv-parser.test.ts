import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ValidationError } from '../../errors/service-error.ts'
import { CsvParser, type CsvRow } from './csv-parser.ts'

function parse(pieces: readonly string[], delimiter = ','): CsvRow[] {
  const parser = new CsvParser({ name: 'data.csv', delimiter, line: 1 })
  return [...pieces.flatMap((piece) => [...parser.push(piece)]), ...parser.end()]
}

function cells(text: string, delimiter = ','): (string | undefined)[][] {
  return parse([text], delimiter).map((row) => [...row.cells])
}

test('cells are separated by delimiters, and rows by CRLF, LF or CR', () => {
  assert.deepEqual(cells('a,b\r\nc,d\ne,f\rg,h'), [
    ['a', 'b'],
    ['c', 'd'],
    ['e', 'f'],
    ['g', 'h'],
  ])
  assert.deepEqual(cells('a;b,c;d', ';'), [['a', 'b,c', 'd']])
})

test('an empty cell is no value, and a pair of quotes an empty text', () => {
  assert.deepEqual(cells(',"",\n"",'), [
    [undefined, '', undefined],
    ['', undefined],
  ])
})

test('quoted cells may contain delimiters, line breaks, white space, and doubled quotes', () => {
  assert.deepEqual(cells('"a,b","c\r\nd"," e ","say ""hi"""\n'), [['a,b', 'c\r\nd', ' e ', 'say "hi"']])
  assert.deepEqual(cells(' a ,b"c"'), [[' a ', 'b"c"']])
})

test('empty lines do not count, except for line numbers', () => {
  const rows = parse(['\n\na\n\r\n"b\nc"\nd'])
  assert.deepEqual(
    rows.map((row) => [row.line, ...row.cells]),
    [
      [3, 'a'],
      [5, 'b\nc'],
      [7, 'd'],
    ],
  )
})

test('the rows are the same however the text is chunked', () => {
  const text = '\u{1F600},"a ""q"" b"\r\n,"x\r\ny"\r"",ü\n\n"last"'
  const whole = parse([text])
  for (let cut = 0; cut <= text.length; cut += 1) {
    assert.deepEqual(parse([text.slice(0, cut), text.slice(cut)]), whole, `cut at ${cut}`)
  }
  assert.deepEqual(parse(Array.from({ length: text.length }, (_, at) => text.charAt(at))), whole)
})

test('an unclosed quote is refused with its line and character', () => {
  assert.throws(
    () => parse(['a,b\nc,"d\ne,f\n']),
    (error) =>
      error instanceof ValidationError &&
      error.message === 'data.csv:2, character 3: the quote that starts a text here is never closed',
  )
})

test('text after a closing quote is refused with its line and character, counted over line breaks in quotes', () => {
  assert.throws(() => parse(['"a\nb",c\n"d"e']), /data\.csv:3, character 4: there is text after/)
  assert.throws(() => parse(['"a\nbc" d']), /data\.csv:2, character 4: there is text after/)
})

test('an endless row is refused, in linear time', () => {
  const piece = `"${'x'.repeat(1 << 20)}`
  const parser = new CsvParser({ name: 'data.csv', delimiter: ',', line: 1 })
  assert.throws(() => {
    for (let count = 0; count < 100; count += 1)
      for (const _row of parser.push(count === 0 ? piece : piece.slice(1)));
  }, /data\.csv:1: the record is longer than 32 MiB/)
})
