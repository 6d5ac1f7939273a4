import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseContract } from '../../src/contract/odcs/parse-contract.ts'
import { parseYamlFile } from '../../src/contract/yaml/yaml-file.ts'
import { createKinds } from '../../src/derivation/kinds.ts'
import { parseDerivation } from '../../src/derivation/parse-derivation.ts'
import { parseTransportFile } from '../../src/derivation/definition/parse-transport-file.ts'
import { ContractError } from '../../src/errors/service-error.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import type { Random } from '../../src/store/suite/support/random.ts'
import { contractText, contractWith } from '../support/contract-with.ts'
import { fuzzRun } from '../support/fuzz.ts'

const { count, random, again } = fuzzRun({ test: 750, fuzz: 300_000 })

const KINDS = createKinds({ transport: parseStub('{"responses": {}}') })
const CONTRACT = contractWith('{name: a, logicalType: string}', '{name: constructor, logicalType: string}')

/** Sound files to spoil, by what reads them. */
const FILES: readonly (readonly [text: string, read: (text: string) => unknown])[] = [
  [
    contractText([
      "{name: a, logicalType: string, logicalTypeOptions: {pattern: '^[a-z]{1,9}(x|y)*$', format: uri}}",
      '{name: n, logicalType: number, logicalTypeOptions: {multipleOf: 0.1, minimum: -1e3}, x-editable-by: ["a:*"]}',
      '{name: o, logicalType: object, properties: [{name: p, logicalType: date}], x-inputs: [a]}',
      '{name: l, logicalType: array, items: {logicalType: integer}, quality: [{metric: rowCount, mustBe: 0}]}',
    ]),
    (text) => parseContract(text),
  ],
  [
    'targets: [a]\ninputs: [constructor]\nkind: http\nmethod: POST\nurl: http://a.example:1/{{ a }}?x={{ id }}\nheaders: {X: "{{ env.A }}"}\nbody_template: |\n  {"a": {{ a }}, "b": "x{{ id }}"}\nresponse_path: a.0.b\n',
    (text) => parseDerivation({ file: 'd.yaml', bytes: Buffer.from(text) }, CONTRACT, KINDS),
  ],
  [
    "hosts:\n  '*': {retries: 2, timeout: 30s}\n  a.example:8080: {rate_limit: 10/s, cost_per_call: 0.5}\n  '[::1]': {concurrency: 1}\n",
    (text) => parseTransportFile(Buffer.from(text)),
  ],
]

/** Characters and texts that spoil a document. */
const PIECES = [
  '[ ] { } : , - ? & * ! | > \' " % @ ` # \\ ~ = < . 0'.split(' '),
  [' ', '\t', '\n'],
  ['\r\n', '\u0085', '\u2028', '\ufeff', '\ud800', '\u{1f600}', '\0', '---\n', '...\n', '- ', '? ', ': '],
  ['&a ', '*a', '<<: *a', '!!str ', '!!js/function ', '!x ', '%YAML 1.1\n', '|-\n', '>+2\n', '"\\u0000"'],
  ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '{{', '}}', '{{ a }}', '1e999'],
  ['.inf', '.nan', '0x1', '0o7', '-0', 'null', 'true', '9'.repeat(40), 'x'.repeat(2000), '['.repeat(120)],
].flat()

/** The text with a few pieces put in, taken out, doubled or swapped. */
function spoil(text: string): string {
  let spoilt = text
  for (let times = 1 + random.below(4); times > 0; times -= 1) {
    const at = random.below(spoilt.length + 1)
    const to = Math.min(spoilt.length, at + random.below(20))
    const middle = [
      random.pick(PIECES),
      random.pick(PIECES) + spoilt.slice(at, to),
      '',
      spoilt.slice(at, to).repeat(2),
    ]
    spoilt = spoilt.slice(0, at) + random.pick(middle) + spoilt.slice(to)
  }
  return spoilt
}

function assertHolds(read: (text: string) => unknown, text: string): void {
  try {
    read(text)
  } catch (error) {
    assert.ok(error instanceof ContractError, `${String(error)} of ${JSON.stringify(text)}; ${again}`)
    assert.match(error.message, /^(contract\.yaml|derivations\/d\.yaml|transport\.yaml)/)
  }
}

test('any definition file is read or refused with a ContractError, without prototype pollution', () => {
  const members = Object.getOwnPropertyNames(Object.prototype)
  for (let number = 0; number < count; number += 1) {
    const [text, read] = random.pick(FILES)
    assertHolds(read, spoil(text))
  }
  assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), members)
})

test('every JSON text is YAML with the same value, for any keys', () => {
  for (let number = 0; number < count / 10; number += 1) {
    const value = randomValue(random, 4)
    const text = JSON.stringify(value, null, random.below(3))
    assert.equal(JSON.stringify(parseYamlFile(text, 'f').value), JSON.stringify(value), `${text}; ${again}`)
  }
})

function randomValue(of: Random, depth: number): unknown {
  const kind = of.below(depth > 0 ? 7 : 5)
  if (kind === 0) return null
  if (kind === 1) return of.below(2) === 0
  if (kind === 2) return of.below(2000) / 8 - 100
  if (kind < 5) return random.pick(PIECES).replaceAll('\ud800', '')
  if (kind === 5) return Array.from({ length: of.below(4) }, () => randomValue(of, depth - 1))
  // The text, since an object cannot be given every key by assignment.
  const keys = new Set(
    Array.from({ length: of.below(5) }, () => random.pick(PIECES).replaceAll('\ud800', '').slice(0, 500)),
  )
  const members = [...keys].map(
    (key) => `${JSON.stringify(key)}:${JSON.stringify(randomValue(of, depth - 1))}`,
  )
  return JSON.parse(`{${members.join()}}`)
}
