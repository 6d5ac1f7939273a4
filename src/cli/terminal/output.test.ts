import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { Output, OutputClosed, type OutputFormat } from './output.ts'

/** An output to streams that keep what they get. */
function outputTo({ format = null, isTTY = false }: { format?: OutputFormat | null; isTTY?: boolean }) {
  const stdout = Object.assign(new PassThrough(), { isTTY, columns: 40 })
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 40 })
  const out = new Output(format, { stdout, stderr })
  return { out, stdout, text: () => String(stdout.read() ?? ''), told: () => String(stderr.read() ?? '') }
}

const SHAPE = {
  columns: [{ header: 'n', value: (item: { n: number }) => item.n }],
  envelope: ['{"items":', () => ',"next_cursor":null}'] as const,
  none: 'nothing',
}

test('a terminal gets a table and other outputs get JSON, unless an option sets the format', async () => {
  const cases: [boolean, OutputFormat | null, string][] = [
    [true, null, 'text\n'],
    [false, null, '{"a":1}\n'],
    [false, 'table', 'text\n'],
    [true, 'json', '{\n  "a": 1\n}\n'],
    [true, 'ndjson', '{"a":1}\n'],
  ]
  for (const [isTTY, format, expected] of cases) {
    const { out, text } = outputTo({ format, isTTY })
    await out.print({ a: 1 }, () => 'text')
    assert.equal(text(), expected)
  }
})

test('a list is a table, an array in its envelope, or one item on each line', async () => {
  const batches = [[{ n: 1 }, { n: 20 }], [], [{ n: 3 }]]
  const expected = {
    table: ' n\n 1\n20\n 3\n',
    json: '{"items":[{"n":1},{"n":20},{"n":3}],"next_cursor":null}\n',
    ndjson: '{"n":1}\n{"n":20}\n{"n":3}\n',
  }
  for (const format of ['table', 'json', 'ndjson'] as const) {
    const { out, text } = outputTo({ format })
    await out.printList(batches, SHAPE)
    assert.equal(text(), expected[format])
  }
})

test('an empty list is valid in every format', async () => {
  const expected = { table: 'nothing\n', json: '{"items":[],"next_cursor":null}\n', ndjson: '' }
  for (const format of ['table', 'json', 'ndjson'] as const) {
    const { out, text } = outputTo({ format })
    await out.printList([], SHAPE)
    assert.equal(text(), expected[format])
  }
})

test('JSON for a terminal has no control sequences, and means the same', async () => {
  for (const format of ['json', 'ndjson'] as const) {
    const { out, text } = outputTo({ format, isTTY: true })
    const value = { text: 'a\u009b31m\u202eb' }
    await out.printList([[value]], { ...SHAPE, columns: [] })
    const shown = text()
    assert.doesNotMatch(shown, /[\u0080-\u009f\u202e]/)
    const json: unknown = JSON.parse(shown)
    assert.deepEqual(json, format === 'json' ? { items: [value], next_cursor: null } : value)
  }
})

test('messages go to standard error, in one line, without control sequences', async () => {
  const { out, text, told } = outputTo({})
  out.fault('two\nlines \u001b[2J')
  out.note('note \u001b[2J')
  assert.equal(told(), 'error: two; lines \\u001b[2J\nnote \\u001b[2J\n')
  assert.equal(text(), '')
})

test('a closed pipe is distinguished from other errors', async () => {
  const { out, stdout } = outputTo({})
  stdout.destroy()
  await assert.rejects(out.write('x'), OutputClosed)
})
