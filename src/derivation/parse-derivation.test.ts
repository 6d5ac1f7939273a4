import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { ContractError } from '../errors/service-error.ts'
import type { Derivation } from './definition/derivation-kind.ts'
import { createKinds } from './kinds.ts'
import { StubTransport } from './transport/network/stub-transport.ts'
import { parseDerivation } from './parse-derivation.ts'
import { MeasureKind } from './testing/measure-kind.ts'
import { testContract } from './testing/test-contract.ts'

const contract = testContract({ city: 'string', country: 'string', lat: 'number', lon: 'number' })
const kinds = createKinds({
  transport: new StubTransport({ responses: new Map() }),
  env: {},
  own: [new MeasureKind()],
})

function parse(text: string | Uint8Array): Derivation {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  return parseDerivation({ file: 'geo.yaml', bytes }, contract, kinds)
}

const GOOD = `targets: [lat, lon]
inputs: [country]
kind: http
url: https://geo.example.com/search?q={{ city }}&in={{ country }}
response_schema:
  lat: 0.lat
  lon: 0.lon
`

test('a derivation file is parsed with the hash of its bytes and the hosts that it calls', () => {
  const derivation = parse(GOOD)
  assert.equal(derivation.file, 'geo.yaml')
  assert.equal(derivation.text, GOOD)
  assert.equal(derivation.sha256, createHash('sha256').update(GOOD).digest('hex'))
  assert.equal(derivation.kind, kinds.get('http'))
  assert.deepEqual(derivation.targets, ['lat', 'lon'])
  assert.deepEqual(derivation.resources, [{ type: 'host', name: 'geo.example.com:443' }])
})

test('D20: a field used in a placeholder counts as an input, listed or not, after the listed ones', () => {
  assert.deepEqual(parse(GOOD.replace(/inputs.*\n/, '')).inputs, ['city', 'country'])
  assert.deepEqual(parse(GOOD).inputs, ['country', 'city'])
  assert.deepEqual(parse(GOOD.replace('[country]', '[]')).inputs, ['city', 'country'])
})

test('a byte order mark is part of the hash, but not of the text', () => {
  const bytes = Buffer.from(`\uFEFF${GOOD}`)
  const derivation = parse(bytes)
  assert.equal(derivation.text, GOOD)
  assert.equal(derivation.sha256, createHash('sha256').update(bytes).digest('hex'))
})

test('bytes that are not UTF-8 are a ContractError with the file', () => {
  for (const bytes of [Buffer.from('targets: [\xff]', 'latin1'), Buffer.from(`\uFEFF${GOOD}`, 'utf16le')]) {
    assert.throws(() => parse(bytes), ContractError)
    assert.throws(() => parse(bytes), { message: /^derivations\/geo\.yaml:1: the file is not UTF-8/ })
  }
})

test('a key whose value is null counts as absent', () => {
  assert.deepEqual(parse(`${GOOD}headers:\nresponse_path: null\n`).targets, ['lat', 'lon'])
  assert.throws(() => parse(GOOD.replace(/kind: http/, 'kind:')), /kind is missing/)
})

const FAULTS: readonly (readonly [string, string, number, RegExp])[] = [
  ['the file is a list', '- a\n', 1, /a derivation is a map/],
  ['targets is missing', GOOD.replace(/targets.*\n/, ''), 1, /targets is missing/],
  [
    'inputs is missing for a kind that does not find them',
    'targets: [lat]\nkind: measure\nfield: city\nunit: m\n',
    1,
    /inputs is missing; list the fields/,
  ],
  [
    'targets is misspelt',
    GOOD.replace('targets', 'target'),
    1,
    /unknown key "target"; did you mean "targets"\?/,
  ],
  [
    'inputs is misspelt',
    GOOD.replace('inputs', 'input'),
    2,
    /unknown key "input"; .*; did you mean "inputs"\?/,
  ],
  ['kind is misspelt', GOOD.replace('kind', 'knid'), 3, /unknown key "knid"; did you mean "kind"\?/],
  ['targets is empty', GOOD.replace('[lat, lon]', '[]'), 1, /targets is empty/],
  ['targets is text', GOOD.replace('[lat, lon]', 'lat'), 1, /targets is not a list/],
  [
    'a target is unknown',
    GOOD.replace('[lat, lon]', '[lat, long]'),
    1,
    /"long", which is no field.*did you mean "lon"/,
  ],
  ['a target is no text', GOOD.replace('[lat, lon]', '[lat, 7]'), 1, /targets names 7, which is no field/],
  [
    'a target is there twice',
    GOOD.replace('[lat, lon]', '\n  - lat\n  - lat'),
    3,
    /targets names "lat" twice/,
  ],
  ['id is a target', GOOD.replace('[lat, lon]', '[id]'), 1, /id cannot be a target/],
  ['an input is unknown', GOOD.replace('[country]', '[land]'), 2, /inputs names "land", which is no field/],
  [
    'the kind is unknown',
    GOOD.replace('kind: http', 'kind: htp'),
    3,
    /unknown kind "htp".*did you mean "http"/,
  ],
  ['the kind is no text', GOOD.replace('kind: http', 'kind: [http]'), 3, /unknown kind an array/],
  ['the kind is inherited', GOOD.replace('kind: http', 'kind: constructor'), 3, /unknown kind "constructor"/],
  ['a key is unknown', `${GOOD}colour: red\n`, 8, /unknown key "colour"; kind http has method, url/],
  [
    'a placeholder is unknown',
    GOOD.replace('{{ city }}', '{{ citi }}'),
    4,
    /\{\{ citi \}\} is no field.*"city"/,
  ],
  ['the YAML is broken', `${GOOD}  - : [`, 8, /./],
]

for (const [name, text, line, message] of FAULTS) {
  test(`D20: when ${name}, a ContractError names file and line`, () => {
    assert.throws(
      () => parse(text),
      (error: Error) => {
        assert.ok(error instanceof ContractError, error.stack)
        assert.match(error.message, message)
        assert.ok(error.message.startsWith(`derivations/geo.yaml:${line}: `), error.message)
        return true
      },
    )
  })
}

test('skip_blank: every value that is sent is required, and an empty text is no value', () => {
  const posted = (more: string): Derivation => {
    const text = GOOD.replace(
      'kind: http',
      `kind: http\nmethod: POST\nbody_template: {in: '{{ country }}', lat: '{{ lat }}'}\n${more}`,
    )
    return parse(
      text
        .replace('targets: [lat, lon]', 'targets: [lon]')
        .replace('  lat: 0.lat\n', '')
        .replace('&in={{ country }}', ''),
    )
  }
  const plain = posted('skip_blank: false')
  assert.deepEqual([plain.requiredInputs, plain.nonEmptyInputs], [['city'], []])
  const skipping = posted('skip_blank: true')
  assert.deepEqual(skipping.requiredInputs, ['city', 'country', 'lat'])
  assert.deepEqual(skipping.nonEmptyInputs, ['city', 'country'], 'a number is never an empty text')
  for (const value of ['yes', '1', '[]']) {
    const message = /^derivations\/geo\.yaml:8: skip_blank is .*; write true or false$/
    assert.throws(() => parse(`${GOOD}skip_blank: ${value}\n`), { message })
  }
})

test('retry_failed_after: a time with its unit, or never', () => {
  const read = (value: string): number | null =>
    parse(`${GOOD}retry_failed_after: ${value}\n`).retryFailedAfterMs
  assert.equal(parse(GOOD).retryFailedAfterMs, null)
  const given = ['30s', '1.5min', '12h', '7d', '2w', 'never'].map(read)
  assert.deepEqual(given, [30_000, 90_000, 43_200_000, 604_800_000, 1_209_600_000, Infinity])
  for (const wrong of ['7', '7 d', '0s', '4000d', '7m', 'soon', 'true']) {
    const message =
      /^derivations\/geo\.yaml:8: retry_failed_after is .*; write a time from 1s to 3650d, such as 12h, 7d or 2w, or never$/
    assert.throws(() => read(wrong), { message }, wrong)
  }
})
