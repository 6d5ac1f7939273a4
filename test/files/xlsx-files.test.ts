import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import type { ReadFileOptions } from '../../src/files/io/read-options.ts'
import { readXml } from '../../src/files/xlsx/read-xml.ts'
import { WrittenNumber } from '../../src/contract/json/written-number.ts'
import { makeWorkbook, workbookXml, worksheetXml, type WorkbookParts } from '../support/make-workbook.ts'
import { readAll } from '../support/read-all.ts'
import { temporaryFile } from '../support/temporary-file.ts'

const HEADER =
  '<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c><c r="B1" t="inlineStr"><is><t>x</t></is></c></row>'

async function read(t: TestContext, parts: WorkbookParts): Promise<JsonObject[]> {
  const source = await temporaryFile(t, 'data.xlsx', await makeWorkbook(parts))
  return (await readAll(source, 'xlsx')).records
}

/** The value of the cell B2, written like this. */
async function cell(t: TestContext, xml: string, parts: WorkbookParts = {}): Promise<unknown> {
  const sheet = worksheetXml(`${HEADER}<row r="2"><c r="A2" t="inlineStr"><is><t>a</t></is></c>${xml}</row>`)
  const [record] = await read(t, { 'xl/worksheets/sheet1.xml': sheet, ...parts })
  return record?.['x']
}

const TEXTS: WorkbookParts = {
  'xl/sharedStrings.xml':
    '<x:sst xmlns:x="main"><x:si><x:t>plain</x:t></x:si><x:si/>' +
    '<x:si><x:r><x:t xml:space="preserve">rich </x:t></x:r><x:r><x:rPr/><x:t>text</x:t></x:r><x:rPh><x:t>said</x:t></x:rPh></x:si>' +
    '<x:si><x:t>_x0041_ &amp;_x000D_</x:t></x:si></x:sst>',
  'xl/styles.xml':
    '<styleSheet><numFmts><numFmt numFmtId="170" formatCode="d.m.yy"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' +
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="20"/><xf numFmtId="4"/></cellXfs></styleSheet>',
}

const CELLS: readonly (readonly [what: string, xml: string, value: unknown])[] = [
  ['a text of the table', '<c r="B2" t="s"><v>0</v></c>', 'plain'],
  ['an empty text of the table', '<c r="B2" t="s"><v>1</v></c>', ''],
  ['a rich text, without its pronunciation', '<c r="B2" t="s"><v>2</v></c>', 'rich text'],
  ['escaped characters', '<c r="B2" t="s"><v>3</v></c>', 'A &\r'],
  ['a text in the cell', '<c r="B2" t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c>', 'inline'],
  ['an empty text in the cell', '<c r="B2" t="inlineStr"><is><t/></is></c>', ''],
  ['a number', '<c r="B2"><v>-1.5E3</v></c>', -1500],
  ['a number with the 17 digits that Excel writes', '<c r="B2"><v>0.56999999999999995</v></c>', 0.57],
  [
    'an integer that a double does not keep',
    '<c r="B2"><v>1234567890123456781</v></c>',
    new WrittenNumber('1234567890123456781'),
  ],
  ['a truth value', '<c r="B2" t="b"><v>1</v></c>', true],
  ['a date', '<c r="B2" s="1"><v>45351</v></c>', '2024-02-29'],
  ['a date in a format of its own', '<c r="B2" s="2"><v>45351.25</v></c>', '2024-02-29T06:00:00'],
  ['a time', '<c r="B2" s="3"><v>0.5</v></c>', '12:00:00'],
  ['a number with thousands', '<c r="B2" s="4"><v>45351</v></c>', 45351],
  ['an ISO date', '<c r="B2" t="d"><v>2024-02-29T00:00:00Z</v></c>', '2024-02-29T00:00:00Z'],
  ['a formula with its number', '<c r="B2"><f>1+1</f><v>2</v></c>', 2],
  ['a formula with its text', '<c r="B2" t="str"><f>"a"&amp;"b"</f><v>ab</v></c>', 'ab'],
  ['a cell with a style alone', '<c r="B2" s="1"/>', undefined],
]

for (const [what, xml, value] of CELLS) {
  test(`a cell of another program is read: ${what}`, async (t) => {
    assert.deepEqual(await cell(t, xml, TEXTS), value)
  })
}

test('a workbook that counts days from 1904 has the dates that it shows', async (t) => {
  const parts = {
    ...TEXTS,
    'xl/workbook.xml': workbookXml('<sheet name="S" r:id="r1"/>', '<workbookPr date1904="1"/>'),
  }
  assert.equal(await cell(t, '<c r="B2" s="1"><v>43889</v></c>', parts), '2024-02-29')
})

test('the first visible worksheet is read; cells without references follow each other; empty rows do not count', async (t) => {
  const rows =
    '<row/><row><c t="inlineStr"><is><t>id</t></is></c><c t="inlineStr"><is><t>x</t></is></c></row>' +
    '<row r="5"><c t="inlineStr"><is><t>a</t></is></c><c><v>1</v></c></row><row><c r="A6"/></row>'
  const source = await temporaryFile(
    t,
    'data.xlsx',
    await makeWorkbook({
      'xl/workbook.xml': workbookXml('<sheet name="A" state="hidden" r:id="r1"/><sheet name="B" r:id="r2"/>'),
      'xl/worksheets/sheet1.xml': worksheetXml(''),
      'xl/worksheets/sheet2.xml': worksheetXml(rows),
    }),
  )
  const { records, places, file } = await readAll(source, 'xlsx')
  assert.deepEqual([records, places, file.fields], [[{ id: 'a', x: 1 }], [5], ['id', 'x']])
})

const FAULTS: readonly (readonly [what: string, xml: string, fault: RegExp])[] = [
  [
    'an error',
    '<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c>',
    /^data\.xlsx, row 2: the cell B2 has the error #DIV\/0!/,
  ],
  [
    'a text that is not there',
    '<c r="B2" t="s"><v>7</v></c>',
    /the cell B2 refers to a text that the file does not have/,
  ],
  ['cells out of order', '<c r="A2"><v>1</v></c>', /its cells are not in order/],
]

for (const [what, xml, fault] of FAULTS) {
  test(`${what} is refused with its cell`, async (t) => {
    await assert.rejects(cell(t, xml, TEXTS), { type: 'ValidationError', message: fault })
  })
}

interface Reading {
  readonly fields: readonly string[] | null
  readonly records: JsonObject[]
  readonly guesses: readonly string[]
}

async function readTable(
  t: TestContext,
  parts: WorkbookParts,
  options: ReadFileOptions = {},
): Promise<Reading> {
  const source = await temporaryFile(t, 'data.xlsx', await makeWorkbook(parts))
  const { records, file } = await readAll(source, 'xlsx', options)
  return { fields: file.fields, records, guesses: file.guesses?.() ?? [] }
}

/** Rows of texts; a dot stands for no cell. */
function rowsOf(...rows: readonly string[]): string {
  return rows
    .map((row) => {
      const cells = row
        .split('|')
        .map((text, column) => {
          const place = `${'ABCDEFG'.charAt(column)}${rows.indexOf(row) + 1}`
          if (text === '.') return ''
          if (/^-?\d+$/.test(text)) return `<c r="${place}"><v>${text}</v></c>`
          if (text.startsWith('=')) return `<c r="${place}"><f>${text.slice(1)}</f><v/></c>`
          return `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`
        })
        .join('')
      return `<row r="${rows.indexOf(row) + 1}">${cells}</row>`
    })
    .join('')
}

function sheet1(rows: string, behind = ''): WorkbookParts {
  return { 'xl/worksheets/sheet1.xml': worksheetXml(rows).replace('</sheetData>', `</sheetData>${behind}`) }
}

test('a title above the table is skipped, columns without a name are named by their position, and --skip counts rows', async (t) => {
  const rows = rowsOf('Report|.|.', 'id|.|x', 'a|1|b', 'c|2|d')
  assert.deepEqual(await readTable(t, sheet1(rows)), {
    fields: ['id', 'column_2', 'x'],
    records: [
      { id: 'a', column_2: 1, x: 'b' },
      { id: 'c', column_2: 2, x: 'd' },
    ],
    guesses: ['passed over 1 row above the table: "Report"', 'column 2 has no name: it is called "column_2"'],
  })
  assert.deepEqual((await readTable(t, sheet1(rows), { skip: 2, header: true })).fields, ['a', '1', 'b'])
  const bare = await readTable(t, sheet1(rowsOf('a|1', 'b|2')))
  assert.deepEqual([bare.fields, bare.records.length], [['column_1', 'column_2'], 2])
})

test('a row without any value is not a record, whatever its cells are', async (t) => {
  const { records } = await readTable(t, sheet1(rowsOf('id|x', 'a|1', ' |.', '.|.', 'b|2')))
  assert.deepEqual(records, [
    { id: 'a', x: 1 },
    { id: 'b', x: 2 },
  ])
})

const TWO = {
  'xl/workbook.xml': workbookXml('<sheet name="ReadMe" r:id="r1"/><sheet name="Data" r:id="r2"/>'),
  'xl/worksheets/sheet2.xml': worksheetXml(rowsOf('id|x', 'a|1', 'b|2')),
}

test('the worksheet with a table is read rather than one about it; --sheet names another', async (t) => {
  const prose = { ...TWO, ...sheet1(rowsOf('This is about the data.', 'Ann made it.')) }
  const guesses = ['read the worksheet "Data"; there are "ReadMe", "Data"']
  assert.deepEqual((await readTable(t, prose)).guesses, guesses)
  const about = { ...TWO, ...sheet1(rowsOf('column|meaning', 'id|a name', 'x|a number')) }
  const { records, guesses: told } = await readTable(t, about)
  assert.deepEqual([records.length, told], [2, guesses])
  const asked = await readTable(t, about, { sheet: 'ReadMe' })
  assert.deepEqual([asked.fields, asked.guesses], [['column', 'meaning'], []])
  await assert.rejects(
    readTable(t, about, { sheet: 'data' }),
    /data\.xlsx has no worksheet "data"; it has "ReadMe", "Data"/,
  )
  const empty = { ...TWO, ...sheet1('') }
  assert.deepEqual((await readTable(t, empty)).guesses, [])
})

test('merged cells have their value in each row, and in the first of several columns', async (t) => {
  const rows = rowsOf('Report|.|.', 'region|town|n', 'North|Kiel|1', '.|Husum|2', 'South|Ulm|3', '.|Lindau|.')
  const merges =
    '<mergeCells><mergeCell ref="A1:C1"/><mergeCell ref="A3:A4"/><mergeCell ref="A5:A6"/><mergeCell ref="B6:C6"/></mergeCells>'
  const { records, guesses } = await readTable(t, sheet1(rows, merges))
  assert.deepEqual(records, [
    { region: 'North', town: 'Kiel', n: 1 },
    { region: 'North', town: 'Husum', n: 2 },
    { region: 'South', town: 'Ulm', n: 3 },
    { region: 'South', town: 'Lindau' },
  ])
  assert.deepEqual(guesses, [
    'passed over 1 row above the table: "Report"',
    'cells are merged over rows, such as A3:A4: each of the rows has their value',
  ])
})

test('formulas without a stored value are reported, and an import keeps their fields', async (t) => {
  const { records, guesses } = await readTable(t, sheet1(rowsOf('id|x', 'a|=1+1', 'b|=A1', 'c|3')))
  assert.deepEqual(records, [{ id: 'a' }, { id: 'b' }, { id: 'c', x: 3 }])
  assert.deepEqual(guesses, [
    '2 formulas have no value in the file, the first in B2: read as no value; for the values, open the file in a ' +
      'spreadsheet program and save it',
  ])
})

test('an error of a cell can stand for no value', async (t) => {
  const row = '<row r="2"><c r="A2" t="inlineStr"><is><t>a</t></is></c><c r="B2" t="e"><v>#N/A</v></c></row>'
  assert.deepEqual((await readTable(t, sheet1(HEADER + row), { nulls: ['#N/A'] })).records, [{ id: 'a' }])
})

test('a value in a column without a name, and without values in the first rows, is refused with its cell', async (t) => {
  const rows = Array.from(
    { length: 150 },
    (_, index) => `<row r="${index + 2}"><c r="A${index + 2}"><v>${index}</v></c></row>`,
  )
  const late = '<row r="900"><c r="A900"><v>1</v></c><c r="D900"><v>1</v></c></row>'
  await assert.rejects(
    readTable(t, sheet1(`${HEADER}${rows.join('')}${late}`)),
    /row 900: the cell D900 has a value, but the header has no name for its column/,
  )
})

test('a worksheet without anything is refused', async (t) => {
  await assert.rejects(read(t, { 'xl/worksheets/sheet1.xml': worksheetXml('') }), /the worksheet is empty/)
})

test('a file that is not a workbook is distinguished from an old or encrypted one', async (t) => {
  const text = await temporaryFile(t, 'data.xlsx', 'id,x\n')
  await assert.rejects(readAll(text, 'xlsx'), {
    type: 'ValidationError',
    message: /^data\.xlsx is no XLSX file: /,
  })
  const old = await temporaryFile(t, 'data.xlsx', Buffer.from('d0cf11e0a1b11ae1', 'hex'))
  await assert.rejects(readAll(old, 'xlsx'), /is an encrypted workbook, or one of before 2007/)
  const empty = await temporaryFile(t, 'data.xlsx', await makeWorkbook({}))
  await assert.rejects(readAll(empty, 'xlsx'), /has no worksheet that could be read/)
})

const HOSTILE: readonly (readonly [what: string, parts: WorkbookParts, fault: RegExp])[] = [
  [
    'entities that grow',
    { 'xl/worksheets/sheet1.xml': `<!DOCTYPE x [<!ENTITY a "aaaa">]>${worksheetXml('')}` },
    /xl\/worksheets\/sheet1\.xml: it has a document type/,
  ],
  [
    'elements without end inside each other',
    { 'xl/worksheets/sheet1.xml': '<a>'.repeat(1000) },
    /its elements are nested too deep/,
  ],
  [
    'a text without end',
    { 'xl/worksheets/sheet1.xml': worksheetXml(`<row><c><v>${'1'.repeat(20 << 20)}</v></c></row>`) },
    /a text or a tag that is larger than possible/,
  ],
  [
    'a tag without end',
    { 'xl/worksheets/sheet1.xml': `<worksheet ${'a'.repeat(20 << 20)}` },
    /a text or a tag that is larger than possible/,
  ],
  [
    'a row beyond the last one',
    { 'xl/worksheets/sheet1.xml': worksheetXml('<row r="99999999"><c><v>1</v></c></row>') },
    /its rows are not in order/,
  ],
  [
    'XML that is none',
    { 'xl/worksheets/sheet1.xml': '<worksheet><sheetData></worksheet>' },
    /it is no well-formed XML/,
  ],
]

for (const [what, parts, fault] of HOSTILE) {
  test(`a workbook with ${what} is refused`, async (t) => {
    await assert.rejects(read(t, parts), { type: 'ValidationError', message: fault })
  })
}

test('a row whose cells all refer to one long text is refused before it fills the memory', async (t) => {
  const long = 'x'.repeat(32_000)
  const cells = Array.from({ length: 2000 }, () => '<c t="s"><v>0</v></c>').join('')
  await assert.rejects(
    read(t, {
      'xl/sharedStrings.xml': `<sst><si><t>${long}</t></si></sst>`,
      'xl/worksheets/sheet1.xml': worksheetXml(`<row>${cells}</row>`),
    }),
    /data\.xlsx, row 1: the record is longer than 32 MiB/,
  )
})

test('the size of a part is counted while it is decompressed, whatever the archive claims', async () => {
  const none = { open: () => undefined, close: () => undefined, text: () => undefined }
  const unpack = async (size: number): Promise<void> => {
    const stream = Readable.from([Buffer.from('<a>'), Buffer.alloc(size - 7, ' '), Buffer.from('</a>')])
    for await (const _piece of readXml({ name: 'part', stream, limit: 3 << 20 }, none)) continue
  }
  await unpack(3 << 20)
  await assert.rejects(unpack((3 << 20) + 1), /part: it is larger than 3 MiB once it is decompressed/)
})
