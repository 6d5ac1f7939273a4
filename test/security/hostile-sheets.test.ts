import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import type { Contract } from '../../src/contract/contract.ts'
import { parseContract } from '../../src/contract/odcs/parse-contract.ts'
import { valueError } from '../../src/contract/values/validate-value.ts'
import { orderDerivations } from '../../src/derivation/definition/graph.ts'
import { createKinds } from '../../src/derivation/kinds.ts'
import { parseDerivation } from '../../src/derivation/parse-derivation.ts'
import { parseTransportFile } from '../../src/derivation/definition/parse-transport-file.ts'
import { ContractError } from '../../src/errors/service-error.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { contractText, contractWith, fieldWith } from '../support/contract-with.ts'
import { CSRF, startApp, type TestApp } from '../support/http-fixture.ts'
import { ALL_BUT_CSRF, DERIVING, ServedDirectory } from '../support/served-directory.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { assertQuick } from '../support/thread-time.ts'

const KINDS = createKinds({ transport: parseStub('{"responses": {}}') })
const MIB = 1024 * 1024

function many(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join('')
}

/** A text that is at least as long, made of this. */
function filled(length: number, piece: string): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
}

/** Aliases of aliases: 10^9 values. */
const LAUGHS = many(9, (n) => `a${n}: &a${n} [${n === 0 ? 'x, '.repeat(10) : `*a${n - 1}, `.repeat(10)}]\n`)

/** Texts that no file of a sheet may be. */
const YAML: Readonly<Record<string, string>> = {
  'billion laughs': LAUGHS,
  'billion laughs in keys': LAUGHS.replaceAll(/\[(.*)\]/g, '{k: [$1]}'),
  'billion laughs in merge keys': many(40, (n) =>
    n === 0 ? 'a0: &a0 {x: 1}\n' : `a${n}: &a${n} {<<: *a${n - 1}, y: *a${n - 1}}\n`,
  ),
  'a long text, many times': `a: &a ${'x'.repeat(500_000)}\nb: [${'*a, '.repeat(5000)}]\n`,
  'an alias of what it stands in': 'a: &a [*a]\n',
  'an alias in a circle': 'a: &a {b: &b {c: *a}}\n',
  'an alias of nothing': 'a: *b\n',
  'an alias as a key': 'a: &a b\n*a : 1\n',
  'many anchors and aliases': many(11_000, (n) => `- &a${n} 1\n- *a${n}\n`),
  'deep flow lists': '['.repeat(100_000),
  'deep flow maps': '{a: '.repeat(25_000),
  'deep flow lists, closed': '['.repeat(50_000) + ']'.repeat(50_000),
  'deep block lists': '- '.repeat(50_000),
  'deep complex keys': '? '.repeat(50_000),
  'deep block maps': many(1400, (n) => `${' '.repeat(n)}a:\n`).slice(0, MIB),
  '5 MiB': filled(5 * MIB, 'a: 1\n'),
  'a million keys': many(1_000_000, (n) => `k${n}: 1\n`),
  '20,000 keys': many(20_000, (n) => `k${n}: 1\n`),
  '15,000 keys, the last there twice': `${many(15_000, (n) => `k${n}: 1\n`)}k0: 2\n`,
  'a key of a MiB': `? ${'x'.repeat(MIB - 100)}\n: 1\n`,
  'a key of a MiB without a mark': `${'x'.repeat(MIB - 100)}: 1\n`,
  'a text of a MiB': `a: ${'x'.repeat(MIB - 100)}\n`,
  'a text of many lines': `a: ${filled(MIB - 100, 'x\n ')}`,
  'a block of many lines': `a: |\n${filled(MIB - 100, '  x\n')}`,
  'empty lines in quotes': `a: "x${filled(MIB - 100, ' \n')}"`,
  'empty lines': '\n'.repeat(MIB - 100),
  'a MiB of spaces': ' '.repeat(MIB),
  'a text between spaces': `a: x${' '.repeat(MIB - 100)}y`,
  'a million faults in a text': `a: "${filled(MIB - 100, '\\q')}"`,
  'many faults': filled(125_000, ']\n'),
  'many faults in values': filled(115_000, '- @a\n'),
  'many faults in pairs': filled(85_000, 'a: b: c\n'),
  'quotes that never end': '"'.repeat(100_000),
  'many directives': `${many(20_000, (n) => `%TAG !a${n}! tag:x\n`)}---\na: 1\n`,
  'many documents': '---\n'.repeat(20_000),
  'a second document': 'a: 1\n---\nb: 2\n',
  'many tags': '- !!str a\n'.repeat(17_000),
  'a key that is there twice': 'a: 1\na: 2\n',
  'the key __proto__ twice': '__proto__: 1\n__proto__: 2\n',
  'a function': 'a: !!js/function "function () { return 1 }"\n',
  'a function by its long name': 'a: !<tag:yaml.org,2002:js/function> "x => x"\n',
  'a regular expression': 'a: !!js/regexp /a/\n',
  'a Python object': 'a: !!python/object/apply:os.system ["true"]\n',
  'a Ruby object': 'a: !ruby/object:Gem::Installer {}\n',
  binary: 'a: !!binary aGk=\n',
  'a set': 'a: !!set {x}\n',
  'a timestamp': 'a: !!timestamp 2001-12-14\n',
  'a number that is none': 'a: .nan\n',
  'a number beyond all': 'a: .inf\n',
  'a number beyond a double': 'a: 1e999\n',
  'a number of a million digits': `a: ${'9'.repeat(MIB - 100)}\n`,
  'the character NUL': 'a: "\0"\n',
  'a MiB of NUL': '\0'.repeat(MIB),
  'a terminal sequence': 'a: \u001b[2J\n',
  'UTF-16': Buffer.from('a: 1\n', 'utf16le').toString(),
  'a lone surrogate': 'a: "\\ud800"\n',
  'a list': '[]',
  'a text': 'x',
  'an unknown key': 'unheard_of: 1\n',
  'the keys of every object': 'constructor: {prototype: {polluted: true}}\n__proto__: {polluted: true}\n',
  'a merge key with __proto__': 'a: &a {__proto__: {polluted: true}}\n<<: *a\n',
}

const BIG = contractWith(...Array.from({ length: 999 }, (_, n) => `{name: f${n}, logicalType: string}`))

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'contract.yaml': (text) => parseContract(text),
  'derivations/d.yaml': (text) => readDerivation(text),
  'transport.yaml': (text) => parseTransportFile(Buffer.from(text)),
}

function readDerivation(text: string, contract: Contract = BIG): unknown {
  return parseDerivation({ file: 'd.yaml', bytes: Buffer.from(text) }, contract, KINDS)
}

/** Refused within the bound with a ContractError that says where, in a message that can be read. */
function assertRefused(read: () => unknown, what: string, message: RegExp = /./): void {
  assertQuick(() => {
    assert.throws(
      read,
      (error) => {
        assert.ok(error instanceof ContractError, `${what}: ${String(error)}`)
        assert.match(error.message, message, what)
        assert.ok(error.message.length <= 1100, `${what}: a message of ${error.message.length} characters`)
        return true
      },
      what,
    )
  }, what)
  assertUnpolluted()
}

function assertUnpolluted(): void {
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  assert.deepEqual(Object.keys(Object.prototype), [])
  assert.equal(Object.hasOwn(Object, 'polluted'), false)
}

for (const [file, read] of Object.entries(READERS)) {
  test(`hostile YAML is never accepted as ${file}, and is refused quickly`, () => {
    for (const [what, text] of Object.entries(YAML)) {
      // To `transport.yaml` nothing at all is nothing said.
      if (file === 'transport.yaml' && text.trim() === '') continue
      assertRefused(() => read(text), `${what} in ${file}`, new RegExp(`^${file.replaceAll('.', '\\.')}`))
    }
  })
}

test('files of the largest size are read, or refused for their contents, within the same time', () => {
  const field = (n: number): string =>
    `{name: f${n}, logicalType: string, description: "${'d'.repeat(100)}", x-editable-by: ['a:*']}`
  const full = contractText(Array.from({ length: 999 }, (_, n) => field(n)))
  assertQuick(() => void parseContract(full), 'a contract of 1000 fields')
  const values = many(20_000, (n) => `              - value ${n}\n`)
  const closed = contractText([
    `name: a\n        logicalType: string\n        quality:\n          - metric: invalidValues\n            mustBe: 0\n            arguments:\n              validValues:\n${values}`,
  ])
  assert.equal(parseContract(closed).fieldByName.get('a')?.validValues?.length, 20_000)
  assertQuick(() => void parseContract(closed), 'a closed list of 20,000')
  const clash = full.replace('name: f998,', 'name: F0,')
  assertRefused(() => parseContract(clash), 'a contract of 1000 fields, two of one name', /in case only/)
  const names = Array.from({ length: 998 }, (_, n) => `f${n}`).join(', ')
  const all = `targets: [${names}]\nkind: http\nurl: http://a/\nresponse_schema: {${names.replaceAll(',', ': a,')}: a}\n`
  assertQuick(() => void readDerivation(`${all}inputs: [${names}]\n`), 'a derivation of all fields')
})

const CONTRACTS: Readonly<Record<string, [properties: readonly string[], message: RegExp]>> = {
  '1001 fields': [
    Array.from({ length: 1000 }, (_, n) => `{name: f${n}, logicalType: string}`),
    /1001 fields; a sheet has at most 1000/,
  ],
  'a field called __proto__': [['{name: __proto__, logicalType: string}'], /cannot be called "__proto__"/],
  'a field of a name of a MiB': [[`{name: ${'-a'.repeat(400_000)}, logicalType: string}`], /must be made of/],
  'a type of a MiB': [[`{name: a, logicalType: ${'string'.repeat(150_000)}}`], /is unknown/],
  'a type of the prototype': [['{name: a, logicalType: constructor}'], /"constructor" is unknown/],
  'an option of the prototype': [
    ['{name: a, logicalType: string, logicalTypeOptions: {constructor: 1}}'],
    /unknown key "constructor"/,
  ],
  'an option __proto__': [
    ['{name: a, logicalType: string, logicalTypeOptions: {__proto__: {pattern: "x"}}}'],
    /unknown key "__proto__"/,
  ],
  'a key of the prototype': [['{name: a, logicalType: string, toString: 1}'], /unknown key "toString"/],
  'editableBy under __proto__': [
    ['{name: a, logicalType: string, customProperties: [{__proto__: {property: editableBy}, value: [x]}]}'],
    /unknown key "__proto__"/,
  ],
  'deep items': [
    [`{name: a, logicalType: array, items: ${'{items: '.repeat(98)}{}${'}'.repeat(98)}}`],
    /100 levels/,
  ],
  'brackets without end in a glob': [
    [`{name: a, logicalType: string, x-editable-by: ['${'['.repeat(900_000)}']}`],
    /longer than 500 characters/,
  ],
  'a closed list twice over': [
    [
      `{name: a, logicalType: string, quality: [&q {metric: invalidValues, mustBe: 0, arguments: {validValues: [${many(9000, (n) => `v${n}, `)}]}}, ${'*q, '.repeat(8)} {metric: invalidValues, mustBe: 0, arguments: {validValues: [other]}}]}`,
    ],
    /leaves no value/,
  ],
  'patterns in every field': [
    Array.from(
      { length: 999 },
      (_, n) => `{name: f${n}, logicalType: string, logicalTypeOptions: {pattern: '^[a-z]{1,900}${n}$'}}`,
    ),
    /the patterns up to here/,
  ],
}

test('invalid contracts are refused quickly', () => {
  for (const [what, [properties, message]] of Object.entries(CONTRACTS)) {
    assertRefused(() => parseContract(contractText(properties)), what, message)
  }
})

const HTTP = 'targets: [f1]\ninputs: []\nkind: http\nresponse_path: a\n'

const DERIVATIONS: Readonly<Record<string, [text: string, message: RegExp]>> = {
  '10,000 targets': [`targets: [${many(10_000, (n) => `f${n}, `)}]\ninputs: []\nkind: http\n`, /no field/],
  '10,000 inputs': [`targets: [f1]\ninputs: [${many(10_000, (n) => `f${n}, `)}]\nkind: http\n`, /no field/],
  'an input 10,000 times': [`targets: [f1]\ninputs: [${'f1, '.repeat(10_000)}]\nkind: http\n`, /twice/],
  'an input of a MiB': [`targets: [f1]\ninputs: [${'f'.repeat(MIB - 100)}]\nkind: http\n`, /no field/],
  'a target of the prototype': [
    'targets: [constructor]\ninputs: []\nkind: http\n',
    /"constructor".*no field/,
  ],
  'a target __proto__': ['targets: [__proto__]\ninputs: []\nkind: http\n', /"__proto__".*no field/],
  'a kind of the prototype': ['targets: [f1]\ninputs: []\nkind: constructor\n', /unknown kind "constructor"/],
  'a key __proto__': [`${HTTP}url: http://a/\n__proto__: {url: 1}\n`, /unknown key "__proto__"/],
  'the url under __proto__': [`${HTTP}__proto__: {url: "http://a/"}\n`, /unknown key "__proto__"/],
  '9,000 unknown keys': [`${HTTP}${many(9000, (n) => `x${n}: 1\n`)}`, /unknown key "x0"/],
  'a key of a MiB': [`${HTTP}? ${'x'.repeat(MIB - 200)}\n: 1\n`, /unknown key "xxx/],
  'a placeholder of the prototype': [`${HTTP}url: http://a/{{ constructor }}\n`, /no field/],
  'a placeholder without end': [`${HTTP}url: http://a/${'{{'.repeat(400_000)}\n`, /not closed/],
  'a placeholder of a MiB': [`${HTTP}url: http://a/{{${'f'.repeat(900_000)}}}\n`, /no field/],
  'a host of a MiB in Punycode': [`${HTTP}url: http://xn--${'a9'.repeat(400_000)}/\n`, /no valid host/],
  'a scheme of a MiB': [`${HTTP}url: ${'h'.repeat(900_000)}://a/\n`, /only http and https/],
  'a body as text, 400,000 deep': [
    `${HTTP}method: POST\nurl: http://a/\nbody_template: '${'['.repeat(400_000)}'\n`,
    /JSON/,
  ],
  'a header that is none': [`${HTTP}url: http://a/\nheaders: {"a:b": x}\n`, /no header name/],
  'a path of the prototype': [
    'targets: [f1]\ninputs: []\nkind: http\nurl: http://a/\nresponse_schema: {constructor: a}\n',
    /no target/,
  ],
}

test('invalid derivations are refused quickly', () => {
  for (const [what, [text, message]] of Object.entries(DERIVATIONS)) {
    assertRefused(() => readDerivation(text), what, message)
  }
})

const TRANSPORTS: Readonly<Record<string, [text: string, message: RegExp]>> = {
  'a host of 400,000 characters': [`hosts:\n  ? ${'é'.repeat(400_000)}\n  : {}\n`, /longer than 300/],
  'a host twice among 5,000': [`hosts:\n${many(5000, (n) => `  h${n}.x: {}\n`)}  H1.x: {}\n`, /there twice/],
  'a key __proto__': ['hosts: {a.example: {__proto__: {retries: 1}}}\n', /unknown key "__proto__"/],
  'a key of the prototype': ['hosts: {a.example: {constructor: 1}}\n', /unknown key "constructor"/],
  'hosts under __proto__': ['__proto__: {hosts: {}}\n', /unknown key "__proto__"/],
  'a rate of a MiB': [`hosts: {a.example: {rate_limit: ${'1'.repeat(900_000)}/s}}\n`, /rate_limit/],
  'a time of a MiB': [`hosts: {a.example: {timeout: ${'1'.repeat(900_000)}s}}\n`, /timeout/],
  'keys without quotes': [`hosts:\n${'  [a]:\n'.repeat(9000)}`, /needs quotes/],
}

test('invalid transport.yaml files are refused quickly', () => {
  for (const [what, [text, message]] of Object.entries(TRANSPORTS)) {
    assertRefused(() => parseTransportFile(Buffer.from(text)), what, message)
  }
})

test('hosts with names of object members have exactly the policy of the file', () => {
  const policies = parseTransportFile(
    Buffer.from('hosts: {constructor: {retries: 1}, __proto__: {retries: 2}, "*": {retries: 3}}\n'),
  )
  const hosts = ['constructor', '__proto__', 'tostring', 'hasownproperty']
  assert.deepEqual(
    hosts.map((host) => policies.forUrl(`http://${host}/`).retries),
    [1, 2, 3, 3],
  )
})

test('D20: derivations in a chain, in a circle and each of all fields are ordered or refused quickly', () => {
  const link = (n: number): string =>
    `targets: [f${n}]\ninputs: [f${n + 1}]\nkind: http\nurl: http://a/\nresponse_path: a\n`
  const chain = Array.from(
    { length: 998 },
    (_, n) => readDerivation(link(n)) as Parameters<typeof orderDerivations>[0][number],
  )
  assertQuick(() => void orderDerivations(chain), 'a chain')
  assert.equal(orderDerivations(chain).length, 998)
  const [first] = chain
  assert.ok(first)
  const circle = [...chain, { ...first, targets: ['f998'], inputs: ['f0'] }]
  assertRefused(() => orderDerivations(circle), 'a circle', /form a cycle: f0 -> /)
  const inputs = Array.from({ length: 999 }, (_, n) => `f${n}`)
  const dense = inputs.map((field) => ({ ...first, targets: [field], inputs }))
  assertRefused(() => orderDerivations(dense), 'each of all', /form a cycle/)
})

/** Patterns that take exponential or quadratic time in engines that backtrack, and texts to take it on. */
const EVIL: readonly (readonly [pattern: string, text: string])[] = [
  ['^(a+)+$', 'a'],
  ['(a|aa)+$', 'a'],
  ['^(a|a?)+$', 'a'],
  ['(.*)*x', 'a'],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'],
  ['(x+x+)+y', 'x'],
  ['^([a-zA-Z0-9])(([.-]|[_]+)?([a-zA-Z0-9]+))*(@){1}$', 'a'],
  ['^(?:(?:(?:a*)*)*)*b$', 'a'],
  [String.raw`\d+(\d+)*$`, '1'],
  [String.raw`^\s+|\s+$|^$`, ' '],
  ['.*.*.*.*.*=.*', 'a'],
  ['(a*)*(a*)*(a*)*b', 'a'],
  ['^(a?){50}a{50}$', 'a'],
  ['a.{30}b.{30}c$', 'a'],
]

test('D6: a pattern takes linear time', () => {
  for (const [pattern, text] of EVIL) {
    const field = fieldWith('string', `logicalTypeOptions: {pattern: '${pattern}'}`)
    assertQuick(() => void valueError(field, `${text.repeat(50_000)}!`), pattern)
  }
})

test('D6: a pattern is refused that could not be compiled quickly, or be matched in bounded time', () => {
  const refused: [pattern: string, message: RegExp][] = [
    ['(a{1000}){1000}', /written out/],
    ['((a{100}){100}){100}', /written out/],
    ['a{1000}'.repeat(140), /written out/],
    [`(${'a'.repeat(500)}){1000}`, /written out/],
    ['(?:a?){1000}'.repeat(5), /written out/],
    ['a{999999}', /written out/],
    ['a'.repeat(1_000_000), /more than 5000 characters/],
    ['a|'.repeat(500_000), /more than 5000 characters/],
    ['(a'.repeat(1200) + ')*'.repeat(1200), /written out|nests too deeply/],
    ['(?<=a)b', /look-around/],
    [String.raw`(a)\1`, /back-references/],
    ['(', /cannot be used/],
  ]
  for (const [pattern, message] of refused) {
    const property = `{name: a, logicalType: string, logicalTypeOptions: {pattern: ${JSON.stringify(pattern)}}}`
    assertRefused(() => parseContract(contractText([property])), pattern.slice(0, 40), message)
  }
  const classes = String.raw`[\p{L}\p{N}\p{S}]{90}`.repeat(30)
  assertQuick(
    () => void fieldWith('string', `logicalTypeOptions: {pattern: '${classes}'}`),
    'large classes, repeated',
  )
  const large = fieldWith('string', "logicalTypeOptions: {pattern: '(a|b|c|d){300}$'}")
  assertQuick(
    () => assert.match(valueError(large, 'abcd'.repeat(5_000_000)) ?? '', /are the most$/),
    'a long text for a large pattern',
  )
})

test('D6: formats of strings take linear time', () => {
  const texts = ['a', 'a.', 'a-', 'a@', '@', ':', '//', '%41', '[', '0:', '1.', 'é', '=', ' ']
  for (const format of ['email', 'hostname', 'uri', 'uuid', 'ipv4', 'ipv6', 'byte']) {
    const field = fieldWith('string', `logicalTypeOptions: {format: ${format}}`)
    for (const text of texts) {
      for (const start of ['', 'a@', 'http://', 'a:', '::']) {
        const long = start + filled(MIB, text)
        assertQuick(() => void valueError(field, `${long}!`), `${format} of ${start}${text}…`)
      }
    }
  }
  for (const type of ['date', 'timestamp', 'time']) {
    const field = fieldWith(type)
    for (const text of ['1', '2024-01-01T00:00:00.', '00:00:00.']) {
      assertQuick(() => void valueError(field, text + '1'.repeat(MIB)), `${type} of ${text}…`)
    }
  }
})

/** Names of members that every object has: fields, keys and paths may have them like any other. */
const MEMBERS = [
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'toLocaleString',
  'toJSON',
  '__defineGetter__',
  '__lookupSetter__',
  'then',
  'length',
  'name',
  'inspect',
]

/** A sheet of these fields: each is computed from the one before it, whose name is also its path in the answer. */
function memberSheet(): { contract: string; derivations: Record<string, string>; stub: string } {
  const derivations: Record<string, string> = {}
  const answer = { ...Object.fromEntries(MEMBERS.map((name) => [name, `<${name}>`])), ['__proto__']: 'proto' }
  const responses: Record<string, unknown> = {}
  for (const [index, name] of MEMBERS.entries()) {
    const before = MEMBERS[index - 1]
    if (before === undefined) continue
    derivations[`${name}.yaml`] = [
      `targets: [${name}]`,
      `inputs: [${before}]`,
      'kind: http',
      `url: http://x.example/${name}/{{ ${before} }}`,
      `headers: {constructor: a, toString: b, valueOf: "{{ ${before} }}"}`,
      'method: POST',
      `body_template: {constructor: "{{ ${before} }}", __proto__: "{{ ${before} }}", toJSON: x}`,
      `response_path: ${name}`,
      '',
    ].join('\n')
    const given = index === 1 ? 'first' : `<${before}>`
    responses[`POST http://x.example/${name}/${encodeURIComponent(given)}`] = answer
  }
  return {
    contract: contractText([
      ...MEMBERS.map((name) => `{name: ${name}, logicalType: string}`),
      '{name: free, logicalType: object, properties: [{name: constructor, logicalType: string}, {name: __proto__, logicalType: integer}]}',
      '{name: closed, logicalType: string, quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: [constructor, __proto__]}}]}',
      '{name: custom, logicalType: string, customProperties: [{property: constructor, value: {__proto__: 1}}, {property: __proto__, value: x}]}',
    ]),
    derivations,
    stub: JSON.stringify({ responses }),
  }
}

async function startMemberSheet(t: TestContext): Promise<TestApp> {
  const { contract, derivations, stub } = memberSheet()
  return startApp(t, {
    files: { contract, derivations, records: [{ id: 'imported', constructor: 'first' }] },
    sheet: { transport: parseStub(stub) },
  })
}

test('fields with names of object members are ordinary fields', async (t) => {
  const { app, takeFrames } = await startMemberSheet(t)
  const write = async (url: string, payload: object | string): Promise<LightMyRequestResponse> =>
    app.inject({
      method: 'POST',
      url,
      headers: { ...CSRF, 'content-type': 'application/json' },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    })

  const free = '{"__proto__": 7, "constructor": "c", "prototype": {"toString": null}}'
  const body = `{"actor": "human:ann", "records": [{"id": "r", "constructor": "first", "free": ${free}, "closed": "__proto__"}]}`
  assert.deepEqual((await write('/api/records', body)).json(), { inserted: 1, updated: 0, total: 2 })

  const run = await write('/api/materialize', { actor: 'agent:a' })
  assert.equal(run.json<{ materialized: number }>().materialized, (MEMBERS.length - 1) * 2, run.body)

  const record = (await app.inject('/api/records/r')).body
  const computed = Object.fromEntries(MEMBERS.slice(1).map((name) => [name, `<${name}>`]))
  const expected = JSON.stringify({ id: 'r', constructor: 'first', ...computed }).slice(0, -1)
  assert.ok(record.startsWith(expected), record)
  assert.ok(record.includes(`"free":${free.replaceAll(': ', ':').replaceAll(', ', ',')}`), record)

  const listed = await app.inject('/api/records?fields=constructor,toString,__defineGetter__&limit=1')
  assert.deepEqual(listed.json<{ records: unknown }>().records, [
    { constructor: 'first', toString: '<toString>', __defineGetter__: '<__defineGetter__>' },
  ])
  const filter = `"constructor" = 'first' AND "toString" = '<toString>'`
  const filtered = await app.inject(`/api/records?fields=id&filter=${encodeURIComponent(filter)}`)
  assert.deepEqual(filtered.json<{ records: unknown }>().records, [{ id: 'imported' }, { id: 'r' }])
  const queried = await write('/api/query', {
    sql: `SELECT "constructor", "valueOf", "hasOwnProperty" AS "__proto__", free FROM records WHERE id = 'r'`,
  })
  assert.equal(queried.statusCode, 200, queried.body)
  assert.ok(queried.body.includes('"<valueOf>"') && queried.body.includes('<hasOwnProperty>'), queried.body)

  const { body: status } = await app.inject('/api/status')
  assert.deepEqual(Object.keys(JSON.parse(status) as object), MEMBERS.slice(1))
  const entry = await app.inject('/api/provenance?record_id=r&field=hasOwnProperty')
  assert.match(entry.body, /"value":"<hasOwnProperty>"/)
  const first = await app.inject('/api/provenance?record_id=r&field=constructor&history=true')
  assert.match(first.body, /"value":"first"/)
  const contract = await app.inject('/api/contract')
  assert.match(contract.body, /"property":"__proto__"/)
  assert.match(contract.body, /"derived":\{"derivation":"toString\.yaml"/)
  assert.ok((await takeFrames()).length > 0)

  for (const url of ['/api/status/__proto__', '/api/records?fields=__proto__', '/api/records/__proto__']) {
    assert.ok([400, 404].includes((await app.inject(url)).statusCode), url)
  }
  const undeclared = await write(
    '/api/records',
    '{"actor": "human:ann", "records": [{"id": "x", "__proto__": 1}]}',
  )
  assert.match(undeclared.body, /ValidationError.*__proto__/)
  assertUnpolluted()
})

test('D3: a hostile file has the effect of any invalid file, until it is fixed', async (t) => {
  const directory = await writeSheet(t)
  const served = await ServedDirectory.open(t, directory)
  const contract = join(directory, 'contract.yaml')
  const derivation = join(directory, 'derivations', 'rate.yaml')
  const transport = join(directory, 'transport.yaml')
  const good = { contract: await readFile(contract), derivation: await readFile(derivation) }
  await served.assertSound()
  for (const what of ['billion laughs', 'deep flow lists', '5 MiB', 'the keys of every object', 'UTF-16']) {
    const text = YAML[what] ?? ''
    await writeFile(contract, text)
    await served.assertBroken(ALL_BUT_CSRF, /"ContractError","message":"contract\.yaml/)
    await writeFile(contract, good.contract)
    await served.assertSound()

    await writeFile(derivation, text)
    await served.assertBroken(DERIVING, /"ContractError","message":"derivations\/rate\.yaml/)
    await writeFile(derivation, good.derivation)
    await served.assertSound()

    await writeFile(transport, text)
    await served.assertBroken(['plan'], /"ContractError","message":"transport\.yaml/)
    await rm(transport)
    await served.assertSound()
  }
  assertUnpolluted()
})

test('a file is refused for its size before it is read', async (t) => {
  const directory = await writeSheet(t)
  const served = await ServedDirectory.open(t, directory)
  for (const [name, broken] of [
    ['contract.yaml', ALL_BUT_CSRF],
    ['derivations/rate.yaml', DERIVING],
    ['transport.yaml', ['plan']],
  ] as const) {
    const path = join(directory, name)
    const good = existsSync(path) ? await readFile(path) : null
    await writeFile(path, '')
    // Nothing but holes: it takes no room on the disk. More than Node reads into a buffer, with an error of its own.
    await truncate(path, 8192 * MIB)
    await served.assertBroken(broken, /is larger than 1 MiB/)
    await rm(path)
    if (good !== null) await writeFile(path, good)
    await served.assertSound()
  }
})

test('a folder of derivations with more files than possible fields, or more bytes than one file may have, is refused', async (t) => {
  const directory = await writeSheet(t)
  const served = await ServedDirectory.open(t, directory)
  const folder = join(directory, 'derivations')
  const plant = async (count: number, text: string, ending = 'yaml'): Promise<void> => {
    for (let n = 0; n < count; n += 1) writeFileSync(join(folder, `x${n}.${ending}`), text)
    await served.app.inject('/api/records?limit=1')
  }
  const mend = async (): Promise<void> => {
    for (const name of await readdir(folder)) if (name !== 'rate.yaml') await rm(join(folder, name))
    await served.assertSound()
  }
  await plant(1000, 'targets: [rate]\n')
  await served.assertBroken(DERIVING, /derivations: 1001 files; a sheet has at most 1000/)
  await mend()
  await plant(10, `# ${'x'.repeat(900_000)}\n`)
  await served.assertBroken(DERIVING, /derivations: the files are together larger than 8 MiB/)
  await mend()
  await plant(4, '- 1\n'.repeat(9000))
  await served.assertBroken(DERIVING, /derivations: the files have together more than 125000 tokens/)
  await mend()
  await plant(10_001, '', 'txt')
  await served.assertBroken(DERIVING, /derivations: more than 10000 files/)
  await mend()
})

test('D13: a sheet of 1000 fields works', async (t) => {
  const properties = Array.from({ length: 999 }, (_, n) => `{name: f${n}, logicalType: string}`)
  const { app } = await startApp(t, {
    files: { contract: contractText(properties), derivations: {}, records: [{ id: 'a', f998: 'last' }] },
  })
  const page = await app.inject(`/api/records?filter=${encodeURIComponent("f998 = 'last'")}`)
  assert.equal(page.json<{ records: { f998: string }[] }>().records[0]?.f998, 'last', page.body.slice(0, 300))
  const queried = await app.inject({
    method: 'POST',
    url: '/api/query',
    headers: CSRF,
    payload: { sql: 'SELECT * FROM records' },
  })
  assert.equal(queried.statusCode, 200, queried.body.slice(0, 300))
})
