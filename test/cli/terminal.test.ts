import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { textWidth } from '../../src/cli/terminal/text-width.ts'
import { HeldRates } from '../support/held-rates.ts'
import { runColophon } from '../support/run-colophon.ts'
import { OFFERS, RATES, writeSheet } from '../support/sheet-fixture.ts'
import { temporaryDirectory } from '../support/temporary-file.ts'
import { noTerminal, Terminal } from '../support/terminal.ts'

const skip = noTerminal

async function withStub(t: TestContext): Promise<{ sheet: string; stub: string }> {
  const sheet = await writeSheet(t)
  const stub = join(sheet, 'stub.json')
  await writeFile(stub, RATES)
  return { sheet, stub }
}

test(
  'at a terminal a list is a table as wide as the terminal, in colours unless NO_COLOR is set',
  { skip },
  async (t) => {
    const records = [{ id: 'jp', title: `日本${'語'.repeat(60)}`, price: 12.5 }]
    const sheet = await writeSheet(t, { records })
    const coloured = new Terminal(t, ['list', sheet], { columns: 60 })
    const plain = new Terminal(t, ['list', sheet], { columns: 60, env: { NO_COLOR: '1' } })
    assert.deepEqual([await coloured.end(), await plain.end()], [0, 0])
    assert.ok(coloured.raw.includes('\u001b[1mid'))
    assert.ok(!plain.raw.includes('\u001b['))
    assert.equal(coloured.text, plain.text)
    const [header = '', line = ''] = plain.text.split('\n')
    assert.match(header, /^id {2}title +price +currency +owner_note +rate$/)
    assert.match(line, /^jp {2}日本語+… +12\.5$/)
    for (const shown of [header, line]) assert.ok(textWidth(shown) <= 60, shown)
  },
)

test('a pipe from a terminal gets JSON, and --format has the last word', { skip }, async (t) => {
  const sheet = await writeSheet(t)
  const json = new Terminal(t, ['get', sheet, 'a', '--fields', 'id,price', '--format', 'json'])
  assert.equal(await json.end(), 0)
  assert.equal(json.text, '{\n  "id": "a",\n  "price": 1.5\n}\n')
  const members = new Terminal(t, ['get', sheet, 'a', '--fields', 'id,price'])
  assert.equal(await members.end(), 0)
  assert.equal(members.text, 'id     a\nprice  1.5\n')
})

test('control sequences in a value are shown, not executed', { skip }, async (t) => {
  const sheet = await writeSheet(t, { records: [{ id: 'x', title: 'a\u001b[2Jb\u009b31mc\u202ed' }] })
  for (const args of [
    ['list'],
    ['list', '--format', 'json'],
    ['list', '--format', 'ndjson'],
    ['export', '--format', 'csv'],
    ['export', '--format', 'ndjson'],
  ] as const) {
    const [command, ...options] = args
    const terminal = new Terminal(t, [command, sheet, '--fields', 'title', ...options], {
      env: { NO_COLOR: '1' },
    })
    assert.equal(await terminal.end(), 0)
    assert.doesNotMatch(terminal.raw, /[^\P{Cc}\r\n]|\u202e/u)
    assert.match(terminal.raw, /a\\u001b\[2Jb\\u009b31mc\\u202ed/)
  }
})

test(
  'materialize shows the plan and asks; answering no computes nothing and exits with 1',
  { skip },
  async (t) => {
    const { sheet, stub } = await withStub(t)
    const terminal = new Terminal(t, ['materialize', sheet, '--stub', stub])
    await terminal.shows(
      /target +compute +cached +skipped\nrate +3 +0 +0\n\n3 calls, cost not set\nStops after 20 failures in a row .*\n.*Go ahead\? \[y\/N\] /,
    )
    terminal.type('n\r')
    assert.equal(await terminal.end(), 1)
    assert.match(terminal.text, /Nothing was computed\.\n$/)
    assert.equal((await runColophon(['runs', sheet])).stdout, '{"runs":[],"next_cursor":null}\n')
  },
)

test('D28: the question has the number of manual values that would be overwritten', { skip }, async (t) => {
  const contract = OFFERS.contract.replace(
    '{name: rate, logicalType: number}',
    "{name: rate, logicalType: number, x-editable-by: ['human:*']}",
  )
  const sheet = await writeSheet(t, { contract, records: OFFERS.records.map((one) => ({ ...one, rate: 5 })) })
  const stub = join(sheet, 'stub.json')
  await writeFile(stub, RATES)
  const options = ['--stub', stub, '--actor', 'human:ann', '--force', '--overwrite-manual']
  const terminal = new Terminal(t, ['materialize', sheet, ...options])
  await terminal.shows(/Overwrites 3 manual values\n[^]*Go ahead and overwrite 3 manual values\? \[y\/N\] /)
  terminal.type('n\r')
  assert.equal(await terminal.end(), 1)
})

test(
  'answering yes computes, with progress drawn in place and the failures listed at the end with advice',
  { skip },
  async (t) => {
    const { sheet, stub } = await withStub(t)
    const terminal = new Terminal(t, ['materialize', sheet, '--stub', stub], { columns: 100 })
    await terminal.shows(/\[y\/N\]/)
    terminal.type('y\r')
    assert.equal(await terminal.end(), 3)
    assert.match(terminal.text, /✘ 1 failed, 2 cells computed, 0 skipped, cost not set \(run 1\)\n/)
    assert.match(terminal.text, /\nc +rate +GET https:\/\/rates\.example\/XXX -> no stub response\n/)
    assert.ok(terminal.text.endsWith(`Retry them: colophon materialize ${sheet} --only failed\n`))
  },
)

test('the progress is one line that is redrawn, and the cursor is restored', { skip }, async (t) => {
  const rates = await HeldRates.start(t, 20)
  const terminal = new Terminal(t, ['materialize', rates.sheet, '--yes'])
  await rates.waiting(8)
  rates.answer(5)
  await terminal.shows(/25 % +5\/20 cells/)
  const drawn = terminal.text
  assert.ok(!drawn.includes('\n'), drawn)
  for (let answered = 5; answered < 20; answered++) {
    await rates.waiting(1)
    rates.answer(1)
  }
  assert.equal(await terminal.end(), 0)
  assert.ok(
    terminal.raw.includes('\u001b[?25l') &&
      terminal.raw.lastIndexOf('\u001b[?25h') > terminal.raw.lastIndexOf('\u001b[?25l'),
  )
  assert.match(terminal.text, /✔ 20 cells computed, 0 skipped, cost not set \(run 1\)\n$/)
})

test(
  'Ctrl-C cancels the run: computed values are kept, and the end of the run is stored',
  { skip },
  async (t) => {
    const rates = await HeldRates.start(t, 20)
    const terminal = new Terminal(t, ['materialize', rates.sheet, '--yes'])
    await rates.waiting(8)
    rates.answer(5)
    await terminal.shows(/5\/20 cells/)
    terminal.type('\u0003')
    assert.equal(await terminal.end(), 130)
    assert.match(
      terminal.text,
      /Cancelled: 5 of 20 cells were done and stay \(run 1, \d+ calls, cost not set\)\.\n$/,
    )
    const run = JSON.parse((await runColophon(['runs', rates.sheet, '1'])).stdout) as object
    assert.partialDeepStrictEqual(run, { state: 'cancelled', materialized: 5, cancelled_by: 'human:ann' })
    const { stdout } = await runColophon(['query', rates.sheet, 'SELECT count(rate) AS n FROM records'])
    assert.equal(stdout, '{"rows":[{"n":5}],"count":1}\n')
  },
)

test('Ctrl-C at a question, and the end of the input, compute and delete nothing', { skip }, async (t) => {
  const { sheet, stub } = await withStub(t)
  for (const [args, keys, code] of [
    [['materialize', sheet, '--stub', stub], '\u0003', 130],
    [['delete', sheet, 'a', 'b'], '\u0003', 130],
    [['delete', sheet, 'a', 'b'], '\u0004', 1],
    [['delete', sheet, 'a', 'b'], '\r', 1],
  ] as const) {
    const terminal = new Terminal(t, args)
    await terminal.shows(/\[y\/N\]/)
    terminal.type(keys)
    assert.equal(await terminal.end(), code)
    assert.match(terminal.text, /Nothing was (?:computed|deleted)\.\n$/)
  }
  assert.equal(
    (await runColophon(['query', sheet, 'SELECT id FROM records'])).stdout.includes('"count":3'),
    true,
  )
})

test('delete asks with the number of records', { skip }, async (t) => {
  const sheet = await writeSheet(t)
  const terminal = new Terminal(t, ['delete', sheet, 'a', 'b', 'a'])
  await terminal.shows(/Delete 2 records\? \[y\/N\]/)
  terminal.type('yes\r')
  assert.equal(await terminal.end(), 0)
  assert.match(terminal.text, /2 records deleted, 1 remain\nUndo: colophon revert \S+ --ids a,b\n$/)
})

test(
  'init shows its inferences and asks before it writes; import too, unless --yes; answering no writes nothing',
  { skip },
  async (t) => {
    const root = await temporaryDirectory(t)
    const file = join(root, 'data.csv')
    await writeFile(file, 'Report\nid,title\na,Apple\n')
    const no = new Terminal(t, ['init', join(root, 'sheet'), '--from', file], { env: { NO_COLOR: '1' } })
    await no.shows(
      /id +string +key[^]*passed over 1 line above the table: "Report"\nCreate the sheet like this\? \[y\/N\] /,
    )
    assert.deepEqual(await readdir(root), ['data.csv'])
    no.type('n\r')
    assert.equal(await no.end(), 1)
    assert.match(no.text, /Nothing was created\.\n$/)
    assert.deepEqual(await readdir(root), ['data.csv'])
    const yes = new Terminal(t, ['init', join(root, 'sheet'), '--from', file, '--yes'], {
      env: { NO_COLOR: '1' },
    })
    assert.equal(await yes.end(), 0)
    assert.match(yes.text, /passed over 1 line above the table: "Report"\n[^?]*is a sheet, with 1 record/)
    await writeFile(file, 'Report\nid,title\na,Pear\n')
    const asked = new Terminal(t, ['import', join(root, 'sheet'), file], { columns: 100 })
    await asked.shows(/Guessed: passed over 1 line[^]*Import it like this\? \[y\/N\] /)
    asked.type('y\r')
    assert.equal(await asked.end(), 0)
    assert.match(asked.text, /0 inserted, 1 updated/)
  },
)
