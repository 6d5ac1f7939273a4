import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { parseYamlFile } from '../../src/contract/yaml/yaml-file.ts'
import type { Derivation } from '../../src/derivation/definition/derivation-kind.ts'
import { createKinds } from '../../src/derivation/kinds.ts'
import { parseDerivation } from '../../src/derivation/parse-derivation.ts'
import { noCalls } from '../../src/sheet/calls/no-calls.ts'
import { formulaDialect } from '../../src/sheet/definition/formula-dialect.ts'
import { readTable } from '../../src/sheet/definition/read-table.ts'
import { contractErrorOf } from '../support/contract-error.ts'
import { contractWith } from '../support/contract-with.ts'
import { code, codeBlocks, readPage, section, tableOf } from '../support/markdown.ts'
import { followGuide } from '../support/terminal-guide.ts'
import { noTerminal } from '../support/terminal.ts'

const page = readPage('docs/reference/fallbacks.md')
const example = codeBlocks(page)[0]?.text ?? ''
const kinds = createKinds({
  transport: noCalls(),
  readTable,
  formulas: await formulaDialect('sqlite'),
})
const contract = contractWith('{name: domain, logicalType: string}', '{name: email, logicalType: string}')

function parse(text: string): Derivation {
  return parseDerivation({ file: 'x.yaml', bytes: Buffer.from(text) }, contract, kinds)
}

function errorOf(text: string): string {
  return contractErrorOf(() => parse(text))
}

test('the keys of fallbacks are those of the reference, and the example is one', () => {
  assert.deepEqual(parse(example).inputs, ['domain'])
  const keys = tableOf(section(page, 'Keys'), 'Key').rows
  const stepKeys = section(page, 'Keys')
  const known = /kind first has ([a-z_ ]+)/.exec(errorOf(`${example}no_such: 1\n`))?.[1]?.split(' and ')
  assert.deepEqual(
    keys.map(([key]) => code(key)),
    known,
  )
  for (const key of ['accept', 'inputs', 'skip_blank']) assert.ok(stepKeys.includes(`\`${key}\``), key)
  parse(example.replace('accept: ', 'skip_blank: true\n    inputs: [domain]\n    accept: '))
})

test('errors in a step name the file, the line of the step and what to do', () => {
  const cases: readonly (readonly [change: (text: string) => string, line: number, message: RegExp])[] = [
    [(text) => text.replace('kind: http', 'kind: htp'), 4, /unknown kind "htp".*did you mean "http"/],
    [(text) => text.replace('- kind: http', '- kind: first'), 4, /a step cannot be of kind first/],
    [(text) => text.replace('- kind: http\n    url', '- url'), 4, /kind is missing; every step has it/],
    [(text) => text.replace('response_path', 'response_pth'), 6, /response_pth/],
    [(text) => text.replace('{{ domain }}', '{{ domian }}'), 5, /domian.*did you mean "domain"/],
    [
      (text) => text.replace("email LIKE '%@%'", 'emial IS NOT NULL'),
      10,
      /accept of step 2 cannot be used: no such column/,
    ],
    [
      (text) => text.replace("email LIKE '%@%'", 'random() > 0'),
      10,
      /accept of step 2 cannot be used: .*random/,
    ],
    [(text) => text.replace("email LIKE '%@%'", '7'), 10, /it is 7; write an SQL expression/],
    [(text) => text.replace('accept:', 'retry_failed_after:'), 10, /is a key of the whole file/],
    [(text) => text.replace('accept:', 'targets:'), 10, /targets is a key of the whole file/],
    [(text) => text.replace('accept:', 'inputs:'), 10, /inputs is not a list/],
    [
      (text) => text.replace('0.02', 'much'),
      11,
      /max_cost_per_record is "much"; write dollars, such as 0\.02/,
    ],
    [(text) => text.replace('0.02', '-1'), 11, /max_cost_per_record is -1/],
    [(text) => `${text}skip_blank: true\n`, 12, /skip_blank is a key of steps here/],
    [
      () => 'targets: [email]\nkind: first\nsteps: []\n',
      3,
      /steps is an array of 0 items; write a list of steps/,
    ],
    [() => 'targets: [email]\nkind: first\nsteps:\n  - http\n', 4, /step 1 is "http"; write a map/],
    [() => 'targets: [email]\nkind: first\n', 1, /steps is missing/],
  ]
  for (const [change, line, message] of cases) {
    const error = errorOf(change(example))
    assert.match(error, new RegExp(`^derivations/x\\.yaml:${line}: `))
    assert.match(error, message)
  }
})

test('a step with the same keys has the same hash, whatever its order of keys, comments and other steps', () => {
  const hashes = (text: string): readonly string[] => {
    const { spec } = parse(text)
    return (spec as { readonly steps: readonly { readonly derivation: Derivation }[] }).steps.map(
      ({ derivation }) => derivation.sha256,
    )
  }
  const [one, two] = hashes(example)
  assert.deepEqual(
    hashes(
      example
        .replace('  - kind: http\n    url', '  # first\n  - url')
        .replace('response_path: email', 'response_path: email\n    kind: http'),
    ),
    [one, two],
  )
  assert.deepEqual(hashes(example.replace('%@%', '%@%.%')), [one, two])
  assert.deepEqual(hashes(example.replace('dear.example', 'other.example'))[0], one)
  assert.notEqual(hashes(example.replace('dear.example', 'other.example'))[1], two)
  const file = parseYamlFile(example, 'x').value as JsonObject
  assert.deepEqual(hashes(JSON.stringify({ ...file, max_cost_per_record: 1 })), [one, two])
})

test(
  'the guide to fallbacks has the output of its commands, step by step',
  { skip: noTerminal },
  async (t) => {
    assert.equal(await followGuide(t, codeBlocks(readPage('docs/guides/fallbacks.md'))), 6)
  },
)
