import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../contract/json/json.ts'
import { originalNames } from '../../contract/odcs/original-names.ts'
import { WrittenNumber } from '../../contract/json/written-number.ts'
import type { DateOrder } from '../../contract/values/foreign-moment.ts'
import { inferContract, type Inference, type InferredField } from './infer-contract.ts'
import type { AskedKey } from './infer-key.ts'
import { profileRecords } from './infer-profile.ts'
import type { CellKind, RawRecords } from '../io/raw-records.ts'

/** A file with these records, as a reader hands them out. */
function fileOf(
  records: readonly JsonObject[],
  cells: CellKind,
  fields: readonly string[] | null,
): RawRecords {
  async function* batches() {
    yield records.map((values, index) => ({ values, at: index + 2 }))
  }
  return {
    source: { path: 'data.csv', name: 'data.csv' },
    fields,
    cells,
    unit: 'line',
    batches: { [Symbol.asyncIterator]: batches },
    progress: () => 1,
  }
}

interface Options {
  readonly cells?: CellKind
  readonly key?: AskedKey
  readonly fields?: readonly string[] | null
}

async function infer(
  records: readonly JsonObject[],
  { cells = 'text', key = null, fields = null }: Options = {},
): Promise<Inference> {
  const profile = await profileRecords(fileOf(records, cells, fields), key === false ? null : key)
  return inferContract(profile, { id: 'data', entry: 'data', key })
}

/** Returns the inference for one column beside an id. */
async function inferColumn(
  values: readonly JsonObject[string][],
  cells: CellKind = 'text',
): Promise<InferredField> {
  const records = values.map((value, index) => ({ id: `r${index}`, ...(value === null ? {} : { value }) }))
  const { fields } = await infer(records, { cells, fields: ['id', 'value'] })
  return fields[1]!
}

const times = (count: number, value: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => value(index))

test('a column of cells gets the only type that all of them can be read as', async () => {
  const types: readonly [type: string, values: readonly string[]][] = [
    ['integer', ['0', '-5', '9007199254740991', ' 12 ']],
    ['number', ['1', '2.50', '-0.001', '1e3', '-0']],
    ['boolean', ['true', 'FALSE']],
    ['date', ['2024-02-29', '1999-12-31']],
    ['timestamp', ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.5+02:00']],
    ['time', ['10:30', '23:59:59Z']],
    ['array', ['[1, 2]', '[]']],
    ['object', ['{"a": 1}', '{}']],
    ['string', ['Ann', 'Bo']],
    ['integer', ['1', 'n/a', '3']],
    ['string', ['1', 'none of them', '3']],
    ['number', ['.5', '5.', '-.5e-3', '1e-06']],
    ['number', ['0.0000009999999974752427', '0.10000000000000001', '1.000000000000000056e-01']],
    ['number', ['1,234.50', '950']],
    ['number', ["1'234.50", '950']],
    ['integer', ['1,234,567', '1,234', '12']],
    ['number', ['1,234', '0.5']],
    ['string', ['1,234', '950']],
    ['string', ['1,234,567', '12-34']],
    ['boolean', ['true', 'NA']],
    ['date', ['2024-01-01', 'NULL']],
    ['string', ['NA', 'DE', 'US']],
    ['string', ['0.5', 'inf']],
    ['number', ['0.5', 'nan']],
    ['date', ['31.12.2024', '01.02.2024']],
    ['date', ['12/31/2024', '01/02/2024']],
    ['date', ['Jun 12 1998', '1998-06-13']],
    ['timestamp', ['31.12.2024 14:00', '01.02.2024']],
    ['timestamp', ['2024-01-01 00:00:00+00:00', '2024-01-01T00:00:00Z']],
    ['string', ['01/02/2024', '03/04/2024']],
    ['string', ['31/12/2024', '12/31/2024']],
    ['string', ['31.12.24', '01.02.24']],
    ['string', ['007', '008']],
    ['string', ['+41 44 1', '+1']],
    ['string', ['9007199254740993', '1']],
    ['string', ['0.12345678901234567890', '1']],
    ['string', ['1e999', '1']],
    ['string', ['2024-02-30', '2024-01-01']],
    ['string', ['2024-01-01', '10:30']],
    ['timestamp', ['2024-01-01 10:00:00', '2024-01-01 11:00:00']],
    ['string', ['[1', '[2]']],
    ['string', ['1,5', '2,5']],
    ['string', ['0x10', '1_000']],
    ['string', ['Infinity', 'NaN']],
    ['string', ['1 2', '3']],
  ]
  for (const [type, values] of types) {
    assert.equal((await inferColumn(values)).type, type, JSON.stringify(values))
  }
})

test('texts in a file with types stay texts, except timestamps', async () => {
  const types: readonly [type: string, values: readonly JsonObject[string][]][] = [
    ['string', ['1', '2']],
    ['string', ['true', 'false']],
    ['string', ['[1]', '{}']],
    ['integer', [1, -2]],
    ['number', [1, 2.5]],
    ['number', [2 ** 60, 1]],
    ['boolean', [true, false]],
    ['date', ['2024-01-01']],
    ['timestamp', ['2024-01-01T10:00:00Z']],
    ['array', [[1], []]],
    ['object', [{ a: 1 }]],
    ['string', [1, 'x']],
    ['string', [[1], { a: 1 }]],
    ['string', [true, 1]],
    ['string', ['', '2024-01-01']],
    ['number', [0.5, 'NaN']],
    ['string', [0.5, 'Infinity']],
    ['string', ['1,234,567']],
    ['timestamp', ['2024-01-01 10:00:00']],
    ['date', ['31.12.2024']],
  ]
  for (const [type, values] of types) {
    assert.equal((await inferColumn(values, 'values')).type, type, JSON.stringify(values))
  }
})

test('numbers that would lose digits are kept as written, and the first is reported', async () => {
  const id = (text: string): JsonObject[string] => new WrittenNumber(text) as unknown as JsonObject[string]
  const cases: readonly (readonly [CellKind, JsonObject[string][], RegExp])[] = [
    [
      'values',
      [id('1234567890123456781'), id('1234567890123456782')],
      /1234567890123456781 in line 2, and 1 more/,
    ],
    ['values', [1, id('1234567890123456781')], /1234567890123456781 in line 3: kept as text/],
    ['values', [{ a: 1 }, { a: id('1234567890123456781') }], /1234567890123456781 in line 3: kept as text/],
    ['cells', [1, id('1234567890123456781')], /1234567890123456781 in line 3: kept as text/],
    ['text', ['1', '1234567890123456781'], /1234567890123456781 in line 3: kept as text/],
    ['text', ['0.5', '0.1234567890123456789'], /0.1234567890123456789 in line 3: kept as text/],
    ['text', ['[1]', '[1234567890123456781]'], /1234567890123456781 in line 3: kept as text/],
  ]
  for (const [cells, values, doubt] of cases) {
    const { type, doubts } = await inferColumn(values, cells)
    assert.equal(type, 'string')
    assert.match(doubts.join('; '), doubt)
    assert.match(doubts.join('; '), /more digits than a number keeps: /)
  }
})

test('a spreadsheet has times without offset, which count as UTC', async () => {
  const field = await inferColumn(['2024-01-01', '2024-01-01T10:00:00'], 'cells')
  assert.equal(field.type, 'timestamp')
  assert.deepEqual(field.doubts, ['a spreadsheet has no offsets: read as UTC'])
})

test('a column is required when each record has a value that is not blank', async () => {
  assert.equal((await inferColumn(['a', 'b'])).required, true)
  assert.equal((await inferColumn(['a', null])).required, false)
  assert.equal((await inferColumn(['1', ' '])).required, false)
  const blank = await inferColumn(['1', ' ', '3'])
  assert.deepEqual([blank.type, blank.values], ['integer', 2])
})

test('few texts among many are a closed list: at most 20, each ten times on average, none long', async () => {
  const list = async (count: number, distinct: number, text = 'v'): Promise<number | null> =>
    (await inferColumn(times(count, (index) => `${text}${index % distinct}`))).validValues?.length ?? null
  assert.equal(await list(30, 3), 3)
  assert.equal(await list(29, 3), null)
  assert.equal(await list(200, 20), 20)
  assert.equal(await list(210, 21), null)
  assert.equal(await list(50, 1), null)
  assert.equal(await list(30, 3, 'x'.repeat(60)), null)
  const { contract } = await infer(
    times(30, (index) => (index % 2 === 0 ? 'no' : 'on')).map((v, index) => ({ id: `${index}`, v })),
  )
  assert.deepEqual(contract.fieldByName.get('v')?.validValues, ['no', 'on'])
})

test('a column whose values all differ is unique when it looks like a key, or has many short texts', async () => {
  const unique = async (name: string, values: readonly string[]): Promise<boolean> => {
    const { fields } = await infer(
      values.map((value, index) => ({ id: `r${index}`, [name]: value })),
      {},
    )
    return fields[1]!.unique
  }
  assert.equal(
    await unique(
      'isbn',
      times(10, (index) => `97${index}`),
    ),
    true,
  )
  assert.equal(
    await unique(
      'isbn',
      times(9, (index) => `97${index}`),
    ),
    false,
  )
  assert.equal(await unique('orderNo', times(10, String)), true)
  assert.equal(
    await unique(
      'population',
      times(200, (index) => String(index * 7)),
    ),
    false,
  )
  assert.equal(
    await unique(
      'town',
      times(100, (index) => `town${index}`),
    ),
    true,
  )
  assert.equal(
    await unique(
      'town',
      times(99, (index) => `town${index}`),
    ),
    false,
  )
  assert.equal(
    await unique(
      'town',
      times(200, (index) => `the town ${index}`),
    ),
    false,
  )
  assert.equal(await unique('isbn', [...times(10, String), '3']), false)
})

test('the key is a column called id, else the first that looks like one, else ids are generated', async () => {
  const keyOf = async (records: readonly JsonObject[], options: Options = {}): Promise<string | null> => {
    const { fields, contract } = await infer(records, options)
    const id = fields.find(({ field }) => field === 'id')
    assert.equal(contract.fieldByName.get('id')?.primaryKey, true)
    return id?.column ?? null
  }
  assert.equal(
    await keyOf([
      { code: 'x', id: '1' },
      { code: 'y', id: '2' },
    ]),
    'id',
  )
  assert.equal(await keyOf([{ ID: '1' }, { ID: '2' }]), 'ID')
  assert.equal(
    await keyOf([
      { a: 'x', 'Country code': 'CH' },
      { a: 'y', 'Country code': 'JP' },
    ]),
    'Country code',
  )
  assert.equal(await keyOf([{ id: '1' }, { id: '1' }]), null)
  assert.equal(await keyOf([{ id: '1' }, {}]), null)
  assert.equal(await keyOf([{ id: 'a,b' }]), null)
  assert.equal(await keyOf([{ code: '1.5' }]), null)
  assert.equal(await keyOf([{ code: 7 }, { code: 8 }], { cells: 'values' }), 'code')
  assert.equal(
    await keyOf(
      [
        { a: '1.5', id: '1' },
        { a: '2.5', id: '2' },
      ],
      { key: 'a' },
    ),
    'a',
  )
  assert.equal(await keyOf([], { fields: ['name'] }), null)
})

test('a column with distinct values is the key: words first, then names, dates, integers, long words', async () => {
  const record = (index: number): JsonObject => ({
    price: `${index}.5`,
    prose: `${'many words '.repeat(9)} ${index}`,
    url: `https://example.com/${'x'.repeat(80)}/${index}`,
    count: `${index * 7}`,
    day: `2024-01-0${index}`,
    name: `Ann ${index}`,
    word: `w${index}`,
  })
  const records = [record(1), record(2), record(3)]
  const without = (...names: readonly string[]): JsonObject[] =>
    records.map((each) => Object.fromEntries(Object.entries(each).filter(([name]) => !names.includes(name))))
  const found: (string | null | undefined)[] = []
  const gone: string[] = []
  for (const name of ['word', 'name', 'day', 'count', 'url', 'price']) {
    found.push((await infer(without(...gone))).fields.find(({ field }) => field === 'id')?.column)
    gone.push(name)
  }
  assert.deepEqual(found, ['word', 'name', 'day', 'count', 'url', null])
  const { fields } = await infer(without('word'))
  assert.deepEqual(fields.find(({ field }) => field === 'id')?.doubts, [
    'used as the key, since it has a different value in each record',
  ])
})

test('a column of dates in another notation is not a name, and one with NA is not a key', async () => {
  const idOf = async (records: readonly JsonObject[]): Promise<string | null | undefined> =>
    (await infer(records)).fields.find(({ field }) => field === 'id')?.column
  const bank = [
    { day: '01.02.2024', amount: "1'200.50", who: 'Ann' },
    { day: '13.02.2024', amount: "1'300.50", who: 'Bo' },
  ]
  assert.equal(await idOf(bank), 'who')
  assert.equal(await idOf(bank.map(({ day, amount }) => ({ amount, day }))), 'day')
  assert.equal(await idOf([{ who: 'Ann' }, { who: 'NA' }]), null)
  assert.equal(await idOf([{ n: '1234567890123456781' }, { n: '1234567890123456782' }]), 'n')
})

test('if numbering is requested, no key is inferred', async () => {
  const { fields } = await infer([{ code: 'x' }, { code: 'y' }], { key: false })
  assert.deepEqual(
    fields.map(({ field, column, doubts }) => [field, column, doubts.length]),
    [
      ['id', null, 0],
      ['code', 'code', 0],
    ],
  )
})

test('a column that is requested as the key must have distinct values', async () => {
  const refused = (records: readonly JsonObject[], message: RegExp): Promise<void> =>
    assert.rejects(infer(records, { key: 'k' }), { message })
  await refused(
    [{ k: 'x' }, { k: 'x' }],
    /"k" cannot be the key: in line 3, "x" is there a second time; choose/,
  )
  await refused([{ k: 'x' }, { a: 'y' }], /"k" cannot be the key: 1 of 2 records have no value/)
  await refused([{ k: 'x,y' }], /"k" cannot be the key: in line 2, "x,y" contains a comma/)
  await refused([{ a: 'x' }], /data\.csv has no column "k" for the key; it has "a"/)
})

test('a column called id that is not the key is reported, and renamed', async () => {
  const { fields } = await infer([
    { id: '1', code: 'a' },
    { id: '1', code: 'b' },
  ])
  assert.deepEqual(
    fields.map(({ field, column }) => [field, column]),
    [
      ['original_id', 'id'],
      ['id', 'code'],
    ],
  )
  assert.deepEqual(fields[0]?.doubts, ['not the key: in line 3, "1" is there a second time'])
  assert.deepEqual(fields[1]?.doubts, ['used as the key, since "code" looks like one'])
})

test('a requested order of day and month is used for dates unless the column shows another', async () => {
  const typeOf = async (values: readonly string[], dateOrder: DateOrder): Promise<string> => {
    const records = values.map((value, index) => ({ id: `r${index}`, value }))
    const profile = await profileRecords(fileOf(records, 'text', null), null)
    return inferContract(profile, { id: 'data', entry: 'data', key: null, dateOrder }).fields[1]!.type
  }
  assert.equal(await typeOf(['03/04/2024'], 'dmy'), 'date')
  assert.equal(await typeOf(['03/04/2024'], 'mdy'), 'date')
  assert.equal(await typeOf(['31/12/2024', '03/04/2024'], 'mdy'), 'date')
  assert.equal(await typeOf(['31/12/2024', '12/31/2024'], 'mdy'), 'string')
})

test('doubtful inferences are reported, with the first value and its position', async () => {
  const doubtOf = async (values: readonly JsonObject[string][], cells?: CellKind): Promise<string> =>
    (await inferColumn(values, cells)).doubts.join('; ')
  const remarks: readonly (readonly [values: readonly string[], warning: string])[] = [
    [[...times(19, String), 'x'], '19 of 20 values are integers, but not "x" in line 21: kept as text'],
    // Integers among numbers are not to blame.
    [
      [...times(19, (n) => `${n}.5`), '7', 'x'],
      '20 of 21 values are numbers, but not "x" in line 22: kept as text',
    ],
    [['1', 'NA', 'n/a', '2'], '"NA" in line 3, and 1 more: read as no value'],
    [['1', '-inf'], '"-inf" in line 3 is an infinity, which no number field takes: kept as text'],
    [['950', '1,234.50'], 'separators between thousands: "1,234.50" in line 3 is read as 1234.5'],
    [['950', '1,234'], '"1,234" in line 3 may be 1234 or 1.234: kept as text'],
    [
      ['31.12.2024', '12.1.2025'],
      '"12.1.2025" in line 3 is read as 2025-01-12, by the order of "31.12.2024" in line 2',
    ],
    [['Jun 12 1998'], '"Jun 12 1998" in line 2 is read as 1998-06-12'],
    [
      ['03/04/2024'],
      'kept as text: "03/04/2024" in line 2 may be 2024-04-03 or 2024-03-04; tell with --date-order dmy or mdy',
    ],
    [
      ['31/12/2024', '12/31/2024'],
      'kept as text: the day is first in "31/12/2024" in line 2, the month in "12/31/2024" in line 3',
    ],
    [
      ['2024-01-01 00:00:00'],
      '"2024-01-01 00:00:00" in line 2 is read as 2024-01-01T00:00:00Z; ' +
        'no offset in "2024-01-01 00:00:00" in line 2: read as UTC; all times are midnight: --type reads them as dates',
    ],
    [
      ['31.12.24', '01.01.25'],
      'dates without a century or a calendar day, as "31.12.24" in line 2: kept as text',
    ],
    [['+1.5'], 'digits with zeros or a plus sign before them, as "+1.5" in line 2: kept as text'],
  ]
  for (const [values, warning] of remarks) assert.equal(await doubtOf(values), warning)
  assert.deepEqual((await inferColumn(['007', '12'])).doubts, [
    'digits with zeros or a plus sign before them, as "007" in line 2: kept as text',
  ])
  assert.equal(
    await doubtOf([1.5, 1234567890123457e3], 'cells'),
    '1234567890123457000 in line 3 has more digits than spreadsheets keep: some may be lost in the file',
  )
  assert.match((await inferColumn([1, 'x'], 'values')).doubts[0] ?? '', /different types \(integers, texts\)/)
  assert.deepEqual((await inferColumn([null, null])).doubts, ['no values: read as text'])
  assert.deepEqual((await inferColumn(['a', 'b'])).doubts, [])
})

test('a point that may be between thousands makes no number in a file with decimal commas', async () => {
  const typesOf = async (records: readonly JsonObject[]): Promise<readonly (readonly unknown[])[]> =>
    (await infer(records, { key: false })).fields.slice(1).map(({ type, doubts }) => [type, doubts.join()])
  assert.deepEqual(
    await typesOf([
      { price: '1,50', count: '1.000', weight: '1.25', total: '1.234,50', share: '12%', usd: '$1,234.50' },
      { price: '2', count: '250', weight: '1.500', total: '1.000', share: '7.5 %', usd: '$99' },
    ]),
    [
      ['string', 'numbers with a decimal comma, as "1,50" in line 2: kept as text'],
      [
        'string',
        '"1.000" in line 2 may be 1000 or 1, since the file has decimal commas, as "1,50" in line 2: kept as text',
      ],
      ['number', ''],
      ['string', 'numbers with a decimal comma, as "1.234,50" in line 2: kept as text'],
      ['string', 'numbers with a unit, as "12%" in line 2: kept as text'],
      ['string', 'numbers with a unit, as "$1,234.50" in line 2: kept as text'],
    ],
  )
  // Without such a column, a point is a point.
  assert.deepEqual(
    await typesOf([
      { count: '1.000', note: 'a' },
      { count: '2.500', note: '1,50' },
    ]),
    [
      ['number', ''],
      ['string', ''],
    ],
  )
})

test('columns keep their order, and their names as business names if a field cannot have them', async () => {
  const { contract } = await infer([
    { 'Größe (cm)': '1', 'größe cm': '2', id: 'x', true: 'y', 名前: 'z', '2024': '1' },
  ])
  const [entry] = contract.document['schema'] as readonly [{ properties: readonly JsonObject[] }]
  assert.deepEqual(
    entry.properties.map(({ name, businessName = null }) => [name, businessName]),
    [
      ['_2024', '2024'],
      ['Grosse_cm', 'Größe (cm)'],
      ['grosse_cm_2', 'größe cm'],
      ['id', null],
      ['true_', 'true'],
      ['field_5', '名前'],
    ],
  )
  const nameless = await infer([{ id: 'x', '': 'y' }], { cells: 'values' })
  assert.deepEqual(originalNames(nameless.contract).get('field_1'), [''])
})

test('common members of arrays and objects are described, and maps with many keys are left open', async () => {
  const { contract } = await infer(
    [
      { id: 'a', lines: [{ sku: 'x', n: 1 }, { sku: 'y' }], tags: ['a', 'b'], mixed: [1, 'x'], map: {} },
      {
        id: 'b',
        lines: [],
        tags: [],
        mixed: [],
        map: Object.fromEntries(times(40, (index) => `k${index}`).map((key) => [key, 1])),
      },
    ],
    { cells: 'values' },
  )
  const field = (name: string) => contract.fieldByName.get(name)!
  const { items } = field('lines')
  assert.equal(items?.type, 'object')
  assert.deepEqual(
    items?.properties?.map(({ name, type, required }) => [name, type, required]),
    [
      ['sku', 'string', true],
      ['n', 'integer', false],
    ],
  )
  assert.equal(field('tags').items?.type, 'string')
  assert.equal(field('mixed').items, undefined)
  assert.equal(field('map').properties, undefined)
})

test('a value that no field can hold is refused with its position', async () => {
  const nul = `a${String.fromCharCode(0)}`
  await assert.rejects(infer([{ id: 'a' }, { id: 'b', v: nul }]), {
    type: 'ValidationError',
    message: /^data\.csv:3, column "v": .* contains the character U\+0000; no field takes that$/,
  })
  const wide = Object.fromEntries(times(1001, (index) => `c${index}`).map((name) => [name, '1']))
  await assert.rejects(infer([wide]), { message: /^data\.csv:2: more than 1000 columns/ })
})
