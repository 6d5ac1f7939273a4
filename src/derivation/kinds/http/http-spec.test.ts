import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContractError } from '../../../errors/service-error.ts'
import type { Derivation } from '../../definition/derivation-kind.ts'
import { createKinds } from '../../kinds.ts'
import { parseDerivation } from '../../parse-derivation.ts'
import { testContract } from '../../testing/test-contract.ts'
import { StubTransport } from '../../transport/network/stub-transport.ts'

const contract = testContract({ city: 'string', lat: 'number', lon: 'number' })
const kinds = createKinds({ transport: new StubTransport({ responses: new Map() }), env: {} })

const BASE = 'targets: [lat]\ninputs: []\nkind: http\n'

/** Reads a file of kind http; without `targets` it gets those of BASE, so that its own keys start on line 4. */
function parse(own: string): Derivation {
  const bytes = Buffer.from(own.startsWith('targets') ? own : BASE + own)
  return parseDerivation({ file: 'x.yaml', bytes }, contract, kinds)
}

test('H1: output allows text and nothing else', () => {
  parse('url: https://h/\nresponse_path: v\noutput: text\n')
  assert.throws(
    () => parse('url: https://h/\nresponse_path: v\noutput: json\n'),
    /x\.yaml:6: output is "json"/,
  )
})

const FAULTS: readonly (readonly [string, string, number, RegExp])[] = [
  ['url is missing', 'response_path: v\n', 1, /url is missing/],
  ['url is no text', 'url: [1]\nresponse_path: v\n', 4, /url is an array/],
  [
    'method is unknown',
    'url: https://h/\nmethod: HEAD\nresponse_path: v\n',
    5,
    /one of GET, POST, PUT, PATCH, DELETE/,
  ],
  ['method is in small letters', 'url: https://h/\nmethod: post\nresponse_path: v\n', 5, /method is "post"/],
  ['no path is given', 'url: https://h/\n', 1, /one of response_path .* and response_schema/],
  [
    'both paths are given',
    'url: https://h/\nresponse_path: v\nresponse_schema: {lat: v}\n',
    6,
    /exclude each other/,
  ],
  ['response_path has an empty part', 'url: https://h/\nresponse_path: a..b\n', 5, /has an empty part/],
  ['response_path is a number', 'url: https://h/\nresponse_path: 0\n', 5, /put it in quotes/],
  ['response_path has a placeholder', 'url: https://h/\nresponse_path: "{{ city }}"\n', 5, /paths take none/],
  [
    'response_path has several targets',
    'targets: [lat, lon]\ninputs: []\nkind: http\nurl: https://h/\nresponse_path: v\n',
    5,
    /fills one target, and there are 2; use response_schema/,
  ],
  ['response_schema is a list', 'url: https://h/\nresponse_schema: [lat]\n', 5, /not a map of targets/],
  ['response_schema is empty', 'url: https://h/\nresponse_schema: {}\n', 5, /lacks the target "lat"/],
  [
    'response_schema has a field more',
    'url: https://h/\nresponse_schema:\n  lat: v\n  lon: v\n',
    7,
    /"lon", which is no target/,
  ],
  ['response_schema has a bad path', 'url: https://h/\nresponse_schema:\n  lat: .v\n', 6, /the path "\.v"/],
  [
    'a key is misspelt',
    'url: https://h/\nresponse_pth: v\n',
    5,
    /"response_pth".*did you mean "response_path"\?/,
  ],
  ['headers is a list', 'url: https://h/\nheaders: [a]\nresponse_path: v\n', 5, /headers is not a map/],
  [
    'a header name is no token',
    'url: https://h/\nheaders:\n  "a b": x\nresponse_path: v\n',
    6,
    /"a b" is no header name/,
  ],
  [
    'a header is a number',
    'url: https://h/\nheaders:\n  X-V: 1.0\nresponse_path: v\n',
    6,
    /value 1, which is no text/,
  ],
  [
    'a header holds a line break',
    'url: https://h/\nheaders:\n  X: "a\\nb"\nresponse_path: v\n',
    6,
    /control character/,
  ],
  [
    'a header is there twice',
    'url: https://h/\nheaders:\n  X-A: a\n  x-a: b\nresponse_path: v\n',
    7,
    /"x-a" is there twice/,
  ],
  [
    'a header names no field',
    'url: https://h/\nheaders:\n  X: "{{ z }}"\nresponse_path: v\n',
    6,
    /\{\{ z \}\} is no field/,
  ],
  [
    'a body names no field',
    'url: https://h/\nbody_template: {a: "{{ z }}"}\nresponse_path: v\n',
    5,
    /\{\{ z \}\} is no field/,
  ],
]

for (const [name, own, line, message] of FAULTS) {
  test(`D20: when ${name}, a ContractError names file and line`, () => {
    assert.throws(
      () => parse(own),
      (error: Error) => {
        assert.ok(error instanceof ContractError, error.stack)
        assert.match(error.message, message)
        assert.ok(error.message.startsWith(`derivations/x.yaml:${line}: `), error.message)
        return true
      },
    )
  })
}

for (const name of [
  'Host',
  'content-length',
  'Connection',
  'Transfer-Encoding',
  'TE',
  'Upgrade',
  'Proxy-Authorization',
  'Expect',
]) {
  test(`the header ${name} is the service's: a ContractError`, () => {
    assert.throws(
      () => parse(`url: https://h/\nheaders:\n  ${name}: x\nresponse_path: v\n`),
      /is set by the service/,
    )
  })
}

test('D23: {{ env.NAME }} outside header values is a ContractError', () => {
  assert.throws(
    () => parse('url: https://h/{{ env.K }}\nresponse_path: v\n'),
    /allowed in header values only/,
  )
  assert.throws(
    () => parse('url: https://h/\nmethod: POST\nbody_template: "{{ env.K }}"\nresponse_path: v\n'),
    /allowed in header values only/,
  )
})
