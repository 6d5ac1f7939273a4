import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import type { ReadFileOptions } from '../../src/files/io/read-options.ts'
import { readAll } from '../support/read-all.ts'
import { temporaryFile } from '../support/temporary-file.ts'

interface Reading {
  readonly fields: readonly string[] | null
  readonly records: JsonObject[]
  readonly guesses: readonly string[]
}

async function read(
  t: TestContext,
  text: string,
  { name = 'data.csv', ...options }: ReadFileOptions & { readonly name?: string } = {},
): Promise<Reading> {
  const { file, records } = await readAll(await temporaryFile(t, name, text), 'csv', options)
  return { fields: file.fields, records, guesses: file.guesses?.() ?? [] }
}

test('the nameless index column of pandas is called index', async (t) => {
  const { fields, records, guesses } = await read(t, ',name,pop\n0,Bern,134794\n1,Basel,171513\n')
  assert.deepEqual(fields, ['index', 'name', 'pop'])
  assert.deepEqual(records[1], { index: '1', name: 'Basel', pop: '171513' })
  assert.deepEqual(guesses, ['column 1 has no name: it is called "index"'])
  assert.deepEqual((await read(t, ',name\n0,Bern\n1,Basel\n')).fields, ['index', 'name'])
  // Of a frame whose columns have numbers for names.
  assert.deepEqual((await read(t, ',0,1\n0,5,6\n1,7,8\n')).fields, ['index', '0', '1'])
  assert.deepEqual((await read(t, ',0.5,0.25\n0,5,6\n1,7,8\n')).fields, ['index', '0.5', '0.25'])
})

test('other columns without a name are named by their position if they have values, and skipped if not', async (t) => {
  const { fields, guesses } = await read(t, 'id,,x,,\na,1,b,,\nb,2,c,,\n')
  assert.deepEqual(fields, ['id', 'column_2', 'x'])
  assert.deepEqual(guesses, ['column 2 has no name: it is called "column_2"'])
  assert.deepEqual((await read(t, 'id,x\na,b,\nc,d,\n')).records, [
    { id: 'a', x: 'b' },
    { id: 'c', x: 'd' },
  ])
})

test('the second of two columns with one name gets a free number', async (t) => {
  const { fields, guesses } = await read(t, 'id,name, name,name_2,name\na,b,c,d,e\n')
  assert.deepEqual(fields, ['id', 'name', 'name_3', 'name_2', 'name_4'])
  assert.deepEqual(guesses, [
    'columns 2 and 3 are both called "name": the second is called "name_3"',
    'columns 2 and 5 are both called "name": the second is called "name_4"',
  ])
})

const ABOVE: readonly (readonly [what: string, above: string, count: number])[] = [
  ['a title', 'Members of the club\n', 1],
  ['a title and an empty line', '"Members, and others"\n\n', 1],
  ['a title filled up with delimiters', 'Members;;;\n', 1],
  ['comments', '# made by a program, on Monday\n# and another; line\n', 2],
  ['what a bank puts there', 'Account:;123\nFrom:;2024-01-01\n\n', 2],
]

for (const [what, above, count] of ABOVE) {
  test(`${what} above the table is skipped`, async (t) => {
    const table = 'id;name;day;paid;fee\na;Ann;2024-01-01;true;1,5\nb;Bo;2024-01-02;false;2,5\n'
    const { fields, records, guesses } = await read(t, above + table)
    assert.deepEqual(fields, ['id', 'name', 'day', 'paid', 'fee'])
    assert.deepEqual(records[1], { id: 'b', name: 'Bo', day: '2024-01-02', paid: 'false', fee: '2,5' })
    assert.equal(guesses.length, 1)
    assert.match(guesses[0] ?? '', new RegExp(`^passed over ${count} lines? above the table: "`))
  })
}

test('lines above a table may have half as many cells', async (t) => {
  const text = 'Account:;12\nMonth:;May\n\nday;amount;who;why\n1.2.2024;-12,50;Ann;rent\n2.2.2024;3,00;Bo;x\n'
  assert.deepEqual((await read(t, text)).fields, ['day', 'amount', 'who', 'why'])
})

test('lines above a table, and an empty one, may be filled up to its width', async (t) => {
  const names = 'day;amount;who;why\n'
  const table = `${names}1.2.2024;-12,50;Ann;rent\n2.2.2024;3,00;Bo;x\n3.2.2024;4,00;Cy;y\n`
  for (const empty of ['\n', ';;;\n']) {
    const { fields, records } = await read(t, `Account:;12;;\nMonth:;May;;\n${empty}${table}`)
    assert.deepEqual([fields, records.length], [['day', 'amount', 'who', 'why'], 3])
  }
  // Without an empty line, the first has the names.
  const { fields } = await read(t, `id;name;;\nAnn;Bern;rent;x\nBo;Basel;food;y\n`)
  assert.deepEqual(fields, ['id', 'name', 'column_3', 'column_4'])
})

test('lines without any value are not records, but those with an empty text are if requested', async (t) => {
  const { records } = await read(t, 'id,name\na,b\n,\nc,d\n,\n,\n', { blank: 'empty' })
  assert.deepEqual(records, [
    { id: 'a', name: 'b' },
    { id: 'c', name: 'd' },
  ])
  assert.equal((await read(t, 'id,name\n"a","b"\n"",""\n" ",\n')).records.length, 1)
  assert.deepEqual((await read(t, 'id,name\n"",\n', { blank: 'empty' })).records, [{ id: '' }])
})

test('a header line that begins like a comment, as numpy writes it, has the names', async (t) => {
  assert.deepEqual((await read(t, '# x,y\n1.5,2.5\n3.5,4.5\n')).fields, ['# x', 'y'])
})

test('names longer than what is looked at, and an index beside them, are read as any', async (t) => {
  const names = Array.from({ length: 9000 }, (_, index) => `a long name ${index}`)
  const text = `;${names.join(';')}\n0;${names.map(() => '1,5').join(';')}\n1;${names.map(() => '2').join(';')}\n`
  const { fields, records } = await read(t, text)
  assert.deepEqual([fields?.length, fields?.[0], fields?.[9000]], [9001, 'index', 'a long name 8999'])
  assert.equal(records.length, 2)
})

test('thousands of columns with one name are named in linear time, and reported briefly', async (t) => {
  const { fields, guesses } = await read(t, `${'x,'.repeat(16_000)}x\n`)
  assert.equal(new Set(fields).size, 16_001)
  assert.deepEqual([guesses.length, guesses.at(-1)], [11, '15990 more columns got names in the same way'])
})

test('--skip sets the number of lines above the table, and then no others are skipped', async (t) => {
  const text = 'Report\nid,name\na,b\n'
  assert.deepEqual(await read(t, text, { skip: 1 }), {
    fields: ['id', 'name'],
    records: [{ id: 'a', name: 'b' }],
    guesses: [],
  })
  assert.deepEqual((await read(t, text, { skip: 2 })).fields, ['a', 'b'])
  await assert.rejects(
    read(t, text, { skip: 0 }),
    /data\.csv:2: the line has 2 cells, but the header has 1 column/,
  )
  await assert.rejects(read(t, text, { skip: 9 }), /fewer lines than the 9 that/)
})

test('a table without a header gets names, if its first line has values like those below', async (t) => {
  const text = 'Bern,134794,51.6\nBasel,171513,23.9\n'
  assert.deepEqual(await read(t, text), {
    fields: ['column_1', 'column_2', 'column_3'],
    records: [
      { column_1: 'Bern', column_2: '134794', column_3: '51.6' },
      { column_1: 'Basel', column_2: '171513', column_3: '23.9' },
    ],
    guesses: ['no line names the columns: they are called column_1 to column_3'],
  })
  assert.deepEqual((await read(t, text, { header: true })).fields, ['Bern', '134794', '51.6'])
  const plain = await read(t, 'a,b\nc,d\n', { header: false })
  assert.deepEqual([plain.records.length, plain.fields, plain.guesses], [2, ['column_1', 'column_2'], []])
})

test('names that look like values are names where plausible: years, ascending numbers, dates above numbers', async (t) => {
  const years = await read(t, 'country,2019,2021\nCH,1,2\nDE,3,4\n')
  assert.deepEqual(years.fields, ['country', '2019', '2021'])
  assert.deepEqual(years.guesses, ['line 1 is read as the names of the columns, though it looks like values'])
  const days = await read(t, 'country,2020-01-22,2020-01-23\nCH,1,2\nDE,3,4\n')
  assert.deepEqual([days.fields?.[1], days.guesses], ['2020-01-22', []])
  assert.deepEqual((await read(t, '1,2,3\n')).fields, ['1', '2', '3'])
})

test('the delimiter is that of the table, not of the lines above it; the ending .tsv means tabs', async (t) => {
  assert.deepEqual((await read(t, 'a,b,c,d title\nid\tname\tx\n1\tAnn, Bo\ty\n')).fields, ['id', 'name', 'x'])
  assert.deepEqual((await read(t, 'id\tname, first\na\tb, c\n', { name: 'data.tsv' })).fields, [
    'id',
    'name, first',
  ])
  assert.deepEqual((await read(t, 'id;name\na;b\n', { name: 'data.tsv' })).fields, ['id', 'name'])
  assert.deepEqual((await read(t, 'id:x\na:b\n', { delimiter: ':' })).records, [{ id: 'a', x: 'b' }])
})

test('texts that represent missing values are no value, ignoring white space', async (t) => {
  const { records } = await read(t, 'id,x,y\na,NA,-\nb, NA ,NAN\n', { nulls: ['NA', '-'] })
  assert.deepEqual(records, [{ id: 'a' }, { id: 'b', y: 'NAN' }])
  const source = await temporaryFile(t, 'data.ndjson', '{"id":"a","x":"NA","y":["NA"]}\n')
  const json = await readAll(source, 'ndjson', { nulls: ['NA'] })
  assert.deepEqual(json.records, [{ id: 'a', x: null, y: ['NA'] }])
})
