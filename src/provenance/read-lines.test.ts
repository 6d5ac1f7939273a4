import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readLines } from './read-lines.ts'

const directory = mkdtempSync(join(tmpdir(), 'colophon-lines-'))
after(() => rmSync(directory, { recursive: true }))

interface ReadLine {
  readonly text: string
  readonly number: number
  readonly end: number
  readonly whole: boolean
  /** Absent when false. */
  readonly tooLong?: boolean
}

function linesOf(content: string, from = 0, limit?: number): ReadLine[] {
  const path = join(directory, 'lines')
  writeFileSync(path, content)
  const fd = openSync(path, 'r')
  try {
    return Array.from(readLines(fd, from, { limit }), ({ bytes, tooLong, ...line }) => ({
      text: Buffer.from(bytes).toString(),
      ...line,
      ...(tooLong ? { tooLong } : {}),
    }))
  } finally {
    closeSync(fd)
  }
}

test('an empty file has no lines', () => {
  assert.deepEqual(linesOf(''), [])
})

test('a line ends at a line feed and nowhere else', () => {
  assert.deepEqual(linesOf('a\r\n\n{"b":"\u2028\u2029\u0085"}\n'), [
    { text: 'a\r', number: 1, end: 3, whole: true },
    { text: '', number: 2, end: 4, whole: true },
    { text: '{"b":"\u2028\u2029\u0085"}', number: 3, end: 21, whole: true },
  ])
})

test('bytes after the last line feed are an incomplete line', () => {
  assert.deepEqual(linesOf('a\nbc'), [
    { text: 'a', number: 1, end: 2, whole: true },
    { text: 'bc', number: 2, end: 4, whole: false },
  ])
})

test('lines are read from an offset, with ends relative to the start of the file', () => {
  assert.deepEqual(linesOf('ä\nbc\nd\n', 3), [
    { text: 'bc', number: 1, end: 6, whole: true },
    { text: 'd', number: 2, end: 8, whole: true },
  ])
  assert.deepEqual(linesOf('a\n', 2), [])
  assert.deepEqual(linesOf('a\n', 9), [])
})

test('lines may be longer than a chunk, and end at its edges', () => {
  const chunk = 1 << 18
  for (const sizes of [
    [chunk],
    [chunk - 1, 0, 1],
    [chunk - 2, 1, chunk * 3, 5],
    [1, chunk * 2 - 3, 0, 0, chunk - 1],
    [chunk * 2],
  ]) {
    const texts = sizes.map((size, index) => String.fromCharCode(97 + index).repeat(size))
    const lines = linesOf(`${texts.join('\n')}\n`)
    assert.deepEqual(
      lines.map(({ text }) => text.length),
      sizes,
    )
    assert.ok(lines.every(({ text }, index) => text === texts[index]))
    let end = 0
    for (const [index, line] of lines.entries()) {
      end += (sizes[index] ?? 0) + 1
      assert.equal(line.end, end)
    }
  }
})

test('characters that a chunk divides are read correctly', () => {
  const text = 'é😀'.repeat(100_000)
  assert.deepEqual(
    linesOf(`x${text}\n`).map((line) => line.text === `x${text}`),
    [true],
  )
})

test('a line beyond the limit is reported with its start, and nothing is read after it', () => {
  assert.deepEqual(linesOf('a\nbcde\nf\n', 0, 3), [
    { text: 'a', number: 1, end: 2, whole: true },
    { text: 'bcde', number: 2, end: 7, whole: true, tooLong: true },
  ])
  const long = linesOf('x'.repeat(1 << 20), 0, 1 << 19)
  assert.deepEqual(
    long.map(({ text, tooLong }) => [text.length < 1 << 19, tooLong]),
    [[true, true]],
  )
})
