import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseYamlFile } from '../../src/contract/yaml/yaml-file.ts'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { createKinds } from '../../src/derivation/kinds.ts'
import { parseDerivation } from '../../src/derivation/parse-derivation.ts'
import { ContractError } from '../../src/errors/service-error.ts'
import { noCalls } from '../../src/sheet/calls/no-calls.ts'
import { readTable } from '../../src/sheet/definition/read-table.ts'
import { contractErrorOf } from '../support/contract-error.ts'
import { contractWith } from '../support/contract-with.ts'
import { code, codeBlocks, codes, readPage, section, tableOf } from '../support/markdown.ts'
import { followGuide } from '../support/terminal-guide.ts'
import { noTerminal } from '../support/terminal.ts'

const guide = codeBlocks(readPage('docs/guides/look-ups.md'))
const page = readPage('docs/reference/look-ups.md')

const contract = contractWith(
  '{name: site, logicalType: string}',
  '{name: sector, logicalType: string}',
  '{name: staff, logicalType: integer}',
)

function parse(file: JsonObject): unknown {
  const bytes = Buffer.from(JSON.stringify(file))
  return parseDerivation(
    { file: 'x.yaml', bytes },
    contract,
    createKinds({ transport: noCalls(), readTable }),
  )
}

test('the keys of a look-up are those of the reference, required as it says', () => {
  const [example] = codeBlocks(page)
  const file = parseYamlFile(example?.text ?? '', 'x').value as JsonObject
  parse(file)
  const rows = tableOf(section(page, 'Keys'), 'Key').rows
  const known = /kind import has ([a-z_, ]+)/.exec(errorOf({ ...file, no_such_key: 1 }))?.[1]?.split(', ')
  assert.deepEqual(
    rows.map(([key]) => code(key)),
    known,
  )
  for (const [key, required] of rows.map((row) => [code(row[0]), row[1]] as const)) {
    const without = { ...file, [key ?? '']: null }
    if (required === 'yes' || key === 'value_fields') assert.throws(() => parse(without), ContractError, key)
    else parse(without)
  }
  for (const value of codes(rows.at(-1)?.[2] ?? '')) parse({ ...file, when_missing: value })
  assert.match(errorOf({ ...file, when_missing: 'ignore' }), /write skip, null, fail/)
})

test('a look-up in another sheet has the keys of one in a table, and a path to a sheet beside this one', () => {
  const [example = ''] = codeBlocks(section(page, 'Another sheet')).map(({ text }) => text)
  const file = {
    ...(parseYamlFile(example, 'x').value as JsonObject),
    targets: ['staff'],
    match: 'site',
  }
  parse(file)
  for (const path of [
    '..',
    '.',
    '/customers',
    'customers',
    '../../customers',
    '../a/../../b',
    '../.git',
    '../',
    '..\\b',
  ]) {
    const place = JSON.stringify(path)
    assert.equal(
      errorOf({ ...file, source_sheet: path }),
      `derivations/x.yaml:1: ${place} cannot be another sheet; name a directory beside this sheet, such as ../customers`,
    )
  }
  assert.match(
    errorOf({ ...file, source: 'x.csv' }),
    /unknown key "source"; kind cross_sheet has source_sheet, key_field/,
  )
  assert.match(errorOf({ ...file, source_sheet: null }), /source_sheet is missing/)
})

test('errors of a look-up name the file, the line and what to do', () => {
  const [example] = codeBlocks(page)
  const file = parseYamlFile(example?.text ?? '', 'x').value as JsonObject
  for (const [change, message] of [
    [
      { source: '../companies.csv' },
      /"\.\.\/companies\.csv" cannot be a source; name a file inside the sheet/,
    ],
    [{ source: 'companies.txt' }, /that ends in \.csv, \.tsv/],
    [{ match: 'sites' }, /match names "sites", which is no field of the contract; did you mean "site"\?/],
    [{ value_field: 'branch' }, /give either value_field/],
    [{ value_fields: { sector: 'branch' } }, /the keys of value_fields are the targets: sector, staff/],
    [{ value_fields: null, value_field: 'branch' }, /value_field is for one target; use value_fields/],
    [{ key_field: 7 }, /key_field is 7; write a text/],
    [{ sauce: 'x.csv' }, /unknown key "sauce"; .*did you mean "source"\?/],
    [{ materialization: { trigger: 'always' } }, /materialization can only have/],
  ] as const) {
    assert.match(errorOf({ ...file, ...change }), message)
    assert.match(errorOf({ ...file, ...change }), /^derivations\/x\.yaml:1: /)
  }
})

function errorOf(file: JsonObject): string {
  return contractErrorOf(() => parse(file))
}

test(
  'the guide to look-ups has the output of its commands, step by step',
  { skip: noTerminal },
  async (t) => {
    assert.equal(await followGuide(t, guide), 8)
  },
)
