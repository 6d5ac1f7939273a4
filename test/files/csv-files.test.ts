import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAll } from '../support/read-all.ts'
import { temporaryDirectory, temporaryFile } from '../support/temporary-file.ts'

const RECORDS = [
  { id: 'a', name: 'Ærø; x' },
  { id: 'b', name: '1,5' },
]

const UTF16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')

const FILES: readonly (readonly [what: string, content: string | Buffer])[] = [
  ['UTF-8', 'id,name\na,Ærø; x\nb,"1,5"\n'],
  ['UTF-8 with a byte order mark', '\ufeffid,name\r\na,Ærø; x\r\nb,"1,5"\r\n'],
  ['UTF-16, low byte first', UTF16('id,name\r\na,Ærø; x\r\nb,"1,5"')],
  ['UTF-16, high byte first', UTF16('id,name\na,Ærø; x\nb,"1,5"').swap16()],
  ['semicolons', 'id;name\na;"Ærø; x"\nb;1,5\n'],
  ['tabs', 'id\tname\na\tÆrø; x\nb\t1,5\n'],
  ['a first line that states the delimiter', 'sep=;\nid;name\na;"Ærø; x"\nb;1,5\n'],
]

for (const [what, content] of FILES) {
  test(`CSV is read in ${what}`, async (t) => {
    const { file, records } = await readAll(await temporaryFile(t, 'data.csv', content), 'csv')
    assert.deepEqual(file.fields, ['id', 'name'])
    assert.deepEqual(records, RECORDS)
    assert.equal(file.progress(), 1)
  })
}

test('the delimiter is that of the header outside of quotes', async (t) => {
  const { file } = await readAll(await temporaryFile(t, 'data.csv', '"a,b,c";d\n1;2\n'), 'csv')
  assert.deepEqual(file.fields, ['a,b,c', 'd'])
})

test('a blank cell is absent, in quotes too unless it is to be an empty text, and lines are counted', async (t) => {
  const file = await temporaryFile(t, 'data.csv', 'sep=,\nid,name\na,\n"b\n",""\n\nc,x\n')
  for (const blank of [null, 'null'] as const) {
    const { records, places } = await readAll(file, 'csv', { blank })
    assert.deepEqual(records, [{ id: 'a' }, { id: 'b\n' }, { id: 'c', name: 'x' }])
    assert.deepEqual(places, [3, 4, 7])
  }
  const { records } = await readAll(file, 'csv', { blank: 'empty' })
  assert.deepEqual(records, [{ id: 'a' }, { id: 'b\n', name: '' }, { id: 'c', name: 'x' }])
})

test('formula guards of spreadsheet programs are removed', async (t) => {
  const { records } = await readAll(await temporaryFile(t, 'data.csv', "id,name\na,'=1+1\nb,'tis\n"), 'csv')
  assert.deepEqual(records, [
    { id: 'a', name: '=1+1' },
    { id: 'b', name: "'tis" },
  ])
})

test('a column named __proto__ is an ordinary column', async (t) => {
  const { records } = await readAll(await temporaryFile(t, 'data.csv', '__proto__,constructor\na,b\n'), 'csv')
  assert.deepEqual(Object.entries(records[0] ?? {}), [
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ])
})

const FAULTS: readonly (readonly [what: string, content: string | Buffer, fault: RegExp])[] = [
  ['an empty file', '', /^data\.csv is empty; its first line must name the columns/],
  [
    'a value in a column without a name that has none in its first lines',
    `id,,x\n${'a,,b\n'.repeat(200)}a,late,b\n`,
    /^data\.csv:202: column 2 has a value, but no name/,
  ],
  ['too few cells', 'id,x\na\n', /^data\.csv:2: the line has 1 cell, but the header has 2 columns/],
  ['too many cells', 'id\na\n"b\nc",d\n', /^data\.csv:3: the line has 2 cells, but the header has 1 column/],
]

for (const [what, content, fault] of FAULTS) {
  test(`${what} is refused with its position`, async (t) => {
    const source = await temporaryFile(t, 'data.csv', content)
    await assert.rejects(readAll(source, 'csv'), { type: 'ValidationError', message: fault })
  })
}

test('a missing file, and a directory, are reported', async (t) => {
  const path = await temporaryDirectory(t)
  await assert.rejects(readAll({ path: `${path}/none.csv`, name: 'none.csv' }, 'csv'), {
    type: 'SheetError',
    message: 'none.csv: no such file',
  })
  await assert.rejects(readAll({ path, name: 'folder' }, 'csv'), /folder is a directory/)
})
