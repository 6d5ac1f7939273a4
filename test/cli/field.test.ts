import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ContractChangeAnswer } from '../../src/wire/definition/contract-changes.ts'
import type { Ran } from '../support/run-colophon.ts'
import { runCommand } from '../support/run-command.ts'
import { OFFERS, writeSheet } from '../support/sheet-fixture.ts'
import { noTerminal, Terminal } from '../support/terminal.ts'

const ACTOR = { COLOPHON_ACTOR: 'human:ann' }

function run(...args: readonly string[]): Promise<Ran> {
  return runCommand(args, { env: ACTOR })
}

async function change(...args: readonly string[]): Promise<ContractChangeAnswer> {
  const { code, stdout, stderr } = await run('field', ...args)
  assert.equal(stderr, '')
  assert.equal(code, 0, stdout)
  return JSON.parse(stdout) as ContractChangeAnswer
}

async function record(sheet: string): Promise<Record<string, unknown>> {
  const { stdout } = await run('get', sheet, 'a')
  return JSON.parse(stdout) as Record<string, unknown>
}

/** A contract in which `rate` has `x-inputs`. */
const WITH_INPUTS = OFFERS.contract.replace(
  '{name: rate, logicalType: number}',
  '{name: rate, logicalType: number, x-inputs: [currency]}',
)

test('a field is added, changed, renamed and removed at the command line', async (t) => {
  const sheet = await writeSheet(t)
  const contract = (): Promise<string> => readFile(join(sheet, 'contract.yaml'), 'utf8')
  const add = ['add', sheet, 'size', '--type', 'integer', '--editable-by', 'human:*,agent:size']
  const plan = await change(...add, '--dry-run')
  assert.deepEqual(
    [plan.change, plan.dry_run, plan.changes],
    [null, true, [{ change: 'add', field: 'size' }]],
  )
  assert.equal(await contract(), OFFERS.contract)
  assert.equal((await change(...add, '--note', 'for labels')).change, '1')
  assert.match(
    await contract(),
    /name: size\n.*logicalType: integer\n[^]*value: \['human:\*', 'agent:size'\]/,
  )

  await change('change', sheet, 'size', '--description', 'In cm')
  assert.match(await contract(), /description: In cm/)
  await change('change', sheet, 'size', '--description', '')
  await change('change', sheet, 'title', '--no-required')
  assert.match(await contract(), /name: title, logicalType: string, required: false/)
  await change('change', sheet, 'price', '--type', 'string')
  const [converted] = (await change('change', sheet, 'title', '--type', 'number', '--on-invalid', 'null'))
    .fields
  assert.equal(converted?.lost, 3)

  const renamed = await change('rename', sheet, 'currency', 'money')
  assert.deepEqual(
    renamed.edits.map(({ file, line }) => `${file}:${line}`),
    ['contract.yaml:11', 'derivations/rate.yaml:2', 'derivations/rate.yaml:4'],
  )
  await change('remove', sheet, 'size')
  assert.equal((await change('remove', sheet, 'price', '--confirm', '3')).fields[0]?.lost, 3)
  assert.deepEqual(await record(sheet), {
    id: 'a',
    title: null,
    money: 'EUR',
    owner_note: null,
    rate: null,
  })
})

test('a name in x-inputs is edited only with --edit-inputs', async (t) => {
  const sheet = await writeSheet(t, { contract: WITH_INPUTS })
  const refused = await run('field', 'rename', sheet, 'currency', 'money')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^error: contract\.yaml:13: x-inputs of "rate" names "currency"/)
  await change('rename', sheet, 'currency', 'money', '--edit-inputs')
  assert.match(await readFile(join(sheet, 'contract.yaml'), 'utf8'), /x-inputs: \[money\]/)
})

test('changes of fields that are not possible exit with 1, wrong usage with 2', async (t) => {
  const sheet = await writeSheet(t)
  const cases: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
    [['add', sheet, 'price', '--type', 'string'], 1, /has a field "price" already/],
    [['add', sheet, 'size'], 2, /--type/],
    [['add', sheet, 'size', '--type', 'text'], 2, /Allowed choices are string, integer/],
    [['change', sheet, 'price'], 2, /nothing to change is given/],
    [['change', sheet, 'price', '--description', 'x', '--on-invalid', 'null'], 2, /requires --type/],
    [['change', sheet, 'title', '--type', 'number'], 1, /"Apple" is not of type number/],
    [['rename', sheet, 'prise', 'cost'], 1, /was price meant\?/],
    [['remove', sheet, 'id', '--confirm', '3'], 1, /primary-key/],
    [['remove', sheet, 'rate'], 1, /derived/],
    [['remove', sheet, 'price'], 1, /its value in 3 records: confirm that number/],
    [['remove', sheet, 'price', '--confirm', '2'], 1, /2 were confirmed/],
    [['remove', sheet, 'price', '--confirm', 'all'], 2, /--confirm/],
  ]
  for (const [args, code, message] of cases) {
    const { code: found, stderr } = await run('field', ...args)
    assert.equal(found, code, stderr)
    assert.match(stderr, message)
  }
  assert.equal(await readFile(join(sheet, 'contract.yaml'), 'utf8'), OFFERS.contract)
  assert.equal((await runCommand(['field', 'remove', sheet, 'price'])).code, 2, 'without an actor')
})

test('a plan is in sentences, with the edited lines, and exits with 1 if it would be refused', async (t) => {
  const sheet = await writeSheet(t)
  const table = ['--dry-run', '--format', 'table']
  const renamed = await run('field', 'rename', sheet, 'currency', 'money', ...table)
  assert.equal(
    renamed.stdout,
    [
      'This change would be made:',
      '  field currency is renamed to money',
      '  money: 3 values kept',
      '  rate (rate.yaml): no cell becomes stale',
      '  programs and queries that read currency must change too',
      '',
      'contract.yaml:11',
      '-       - {name: currency, logicalType: string}',
      '+       - {name: money, logicalType: string}',
      'derivations/rate.yaml:2',
      '- inputs: [currency]',
      '+ inputs: [money]',
      'derivations/rate.yaml:4',
      '- url: https://rates.example/{{ currency }}',
      '+ url: https://rates.example/{{ money }}',
      '',
    ].join('\n'),
  )
  const converted = await run('field', 'change', sheet, 'title', '--type', 'number', ...table)
  assert.equal(converted.code, 1)
  assert.match(
    converted.stdout,
    /^This change would be refused:\n {2}the type of title changes from string to number\n/,
  )
  assert.match(converted.stdout, /\na +Apple +"Apple" is not of type number\n/)
  assert.match(converted.stdout, /\nrefused: property "title" is converted/)
  const removed = await run('field', 'remove', sheet, 'price', ...table)
  assert.equal(removed.code, 1)
  assert.match(removed.stdout, /price: 3 values lost from the sheet, kept in the log/)
})

test('at a terminal the removal shows its effect and asks', { skip: noTerminal }, async (t) => {
  const sheet = await writeSheet(t)
  const remove = ['field', 'remove', sheet, 'price', '--actor', 'human:ann']
  const declined = new Terminal(t, remove)
  await declined.shows(/Remove price\? \[y\/N\]/)
  declined.type('n\r')
  assert.equal(await declined.end(), 1)
  assert.match(declined.text, /price: 3 values lost/)
  assert.ok(!declined.text.includes('u001b'), declined.text)
  assert.equal((await record(sheet))['price'], 1.5)
  const agreed = new Terminal(t, remove)
  await agreed.shows(/Remove price\? \[y\/N\]/)
  agreed.type('y\r')
  assert.equal(await agreed.end(), 0)
  assert.match(agreed.text, /Change 1 was made:/)
})

test(
  'a derivation whose removal is asked about is shown without escapes',
  { skip: noTerminal },
  async (t) => {
    const sheet = await writeSheet(t)
    const terminal = new Terminal(t, ['derivation', 'remove', sheet, 'rate.yaml', '--actor', 'human:ann'])
    await terminal.shows(/Remove rate\.yaml\? \[y\/N\]/)
    terminal.type('n\r')
    assert.equal(await terminal.end(), 1)
    assert.match(terminal.text, /\ntarget +file /)
  },
)

test('control characters of the files and the values are shown, not sent to the terminal', async (t) => {
  const records = [{ id: 'a', title: 'x\u001b[2Jy', price: 1, currency: 'EUR' }]
  const sheet = await writeSheet(t, { records })
  const { stdout } = await run(
    'field',
    'change',
    sheet,
    'title',
    '--type',
    'number',
    '--dry-run',
    '--format',
    'table',
  )
  assert.match(stdout, /refused/)
  assert.ok(!stdout.includes('\u001b'), stdout)
})
