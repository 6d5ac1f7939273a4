import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { parseExactly } from '../../src/contract/json/exact-json.ts'
import { isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '../../src/contract/json/json.ts'
import { parseContract } from '../../src/contract/odcs/parse-contract.ts'
import { ContractError } from '../../src/errors/service-error.ts'
import { noCalls } from '../../src/sheet/calls/no-calls.ts'
import { loadKinds } from '../../src/sheet/definition/load-kinds.ts'
import { adoptFolioSheet } from '../../src/sheet/folio/adopt-folio-sheet.ts'
import {
  convertFolioSheet,
  SET_ASIDE_FILE,
  type ConvertedSheet,
} from '../../src/sheet/folio/convert-folio-sheet.ts'
import { FolioSource } from '../../src/sheet/folio/folio-source.ts'
import { valueFaults } from '../../src/sheet/lifecycle/record-rules.ts'
import type { Random } from '../../src/store/suite/support/random.ts'
import { fuzzRun } from '../support/fuzz.ts'

const NAMES = [
  'a',
  'A',
  'unit-price',
  'unit_price',
  'true',
  'id',
  'größe',
  '7',
  '__proto__',
  'constructor',
  'x y',
  'select',
  'b',
  'c',
  'd',
]
const TYPES = [
  'string',
  'integer',
  'number',
  'boolean',
  'date',
  'timestamp',
  'array',
  'object',
  'time',
  'text',
  'geography',
  null,
]
const VALUES: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  1,
  -0,
  1.5,
  1e21,
  2 ** 53,
  '',
  ' ',
  '3',
  ' 4 ',
  '1,234',
  '1.5',
  'true',
  'FALSE',
  'yes',
  'NA',
  '2026-01-01',
  '01/02/2026',
  '2026-01-01T10:00:00',
  '2026-01-01T10:00:00Z',
  '2026-01-01 10:00',
  'a,b',
  '"',
  '\\',
  '\u0000',
  '\ud800',
  '\u2028',
  'é',
  '[1]',
  '{}',
  '=1+1',
  [],
  [1, ['x']],
  {},
  { a: { b: null } },
  ['\u0000'],
  { '\ud800': 1 },
]
const RAW = [
  'NaN',
  '-Infinity',
  '12345678901234567890',
  '0.1234567890123456789',
  '[NaN]',
  '1e400',
  '{"a":12345678901234567890}',
]

/** Texts of lines that are no records. */
const LINES = ['', ' ', 'x', '[]', 'null', '{"a":', '\ufeff{"id":"bom"}', '{"id":1,"id":2}']

interface FuzzedSheet {
  readonly files: ReadonlyMap<string, string | Buffer>
}

function fuzzedSheet(random: Random): FuzzedSheet {
  const names = NAMES.filter(() => random.chance(0.4))
  const key = random.chance(0.2) ? (names[0] ?? 'id') : 'id'
  const declared = names.filter(() => random.chance(0.8))
  const targets = declared.filter((name) => name !== key && random.chance(0.3))
  const properties = declared.map((name) => ({
    name,
    ...(random.chance(0.95) ? { logicalType: random.pick(TYPES) } : {}),
    ...(name === key && random.chance(0.8) ? { primaryKey: true } : {}),
    ...(random.chance(0.3) ? { required: random.chance(0.7) } : {}),
    ...(random.chance(0.2)
      ? { enum: random.pick([['a', 'b'], ['1', '2'], ['true'], [], ['x', 'x'], 'x']) }
      : {}),
    ...(targets.includes(name) || random.chance(0.05)
      ? { 'x-derived': true, 'x-inputs': random.chance(0.5) ? declared.slice(0, 2) : [] }
      : {}),
    ...(random.chance(0.2) ? { 'x-editable-by': random.pick([['*'], [], ['human:[x'], [''], 'all']) } : {}),
    ...(random.chance(0.1) ? { description: random.pick(['text', 7, true]) } : {}),
    ...(random.chance(0.05) ? { unique: true } : {}),
  }))
  const contract = {
    ...(random.chance(0.9) ? { apiVersion: random.pick(['v3.0.0', 'v3.1.0', '1', 3]) } : {}),
    ...(random.chance(0.9) ? { kind: 'DataContract' } : {}),
    ...(random.chance(0.9) ? { id: random.pick(['x', 7, true]) } : {}),
    ...(random.chance(0.9) ? { version: random.pick(['1.0.0', 1.5]) } : {}),
    ...(random.chance(0.5)
      ? {
          [random.pick([
            'owner',
            'tags',
            'status',
            'description',
            'servers',
            'team',
            'customProperties',
            '__proto__',
          ])]: random.pick(VALUES),
        }
      : {}),
    schema: [{ name: 'x', properties, ...(random.chance(0.1) ? { more: 1 } : {}) }],
  }
  const files = new Map<string, string | Buffer>([['contract.yaml', stringify(contract)]])
  for (const [index, target] of targets.entries())
    files.set(`derivations/${index}.yaml`, derivationText(target, declared, random))
  const lines = Array.from({ length: random.below(12) }, () => recordLine([...names, key], random))
  files.set(
    'records.jsonl',
    Buffer.concat(
      lines.map((line) => Buffer.concat([line, Buffer.from(random.chance(0.1) ? '\r\n' : '\n')])),
    ),
  )
  files.set(
    'provenance.jsonl',
    Array.from({ length: random.below(8) }, () => `${logLine(names, random)}\n`).join(''),
  )
  if (random.chance(0.5)) files.set('refs/t.csv', 'id,v\n1,x\n3,y\n')
  if (random.chance(0.3)) files.set('scripts/s.py', 'print(1)\n')
  return { files }
}

function derivationText(target: string, inputs: readonly string[], random: Random): string {
  const keys: Record<string, JsonValue> = {
    targets: [target],
    ...(random.chance(0.7)
      ? { inputs: inputs.filter((name) => name !== target).slice(0, random.below(3)) }
      : {}),
    kind: random.pick(['http', 'import', 'import', 'sql', 'python', 'cross_sheet', 'ai', 'magic', 7]),
    ...random.pick<JsonObject>([
      { url: `https://h.example/{{ ${inputs[0] ?? 'id'} }}`, response_path: 'a.b' },
      { url: 'https://h.example/', method: 'POST', body_template: '{"a": 1}' },
      { source: 'refs/t.csv', key_field: 'id', value_field: 'v' },
      { source: '../../etc/passwd', key_field: 'id', value_field: 'v' },
      { expression: 'SELECT count(*) FROM records' },
      { expression: 'upper(a)' },
      { script: 's', output: 'json' },
      { source_sheet: '../other', key_field: 'id', value_field: 'v' },
      { model: 'm', prompt: 'Say {{ a }}', output: 'text' },
    ]),
    ...(random.chance(0.2)
      ? {
          materialization: random.pick<JsonValue>([
            { respect_human_override: false },
            { trigger: 'on_demand' },
            7,
          ]),
        }
      : {}),
  }
  const text = stringify(keys)
  return random.chance(0.05) ? `${text}targets: [` : text
}

function recordLine(names: readonly string[], random: Random): Buffer {
  if (random.chance(0.08)) return Buffer.from(random.pick(LINES))
  if (random.chance(0.02)) return Buffer.from([0x7b, 0xff, 0x7d])
  const members = [...new Set(names)].flatMap((name) => {
    if (random.chance(0.25)) return []
    const value = random.chance(0.1) ? random.pick(RAW) : JSON.stringify(random.pick(VALUES))
    return [`${JSON.stringify(name)}:${value}`]
  })
  return Buffer.from(`{${members.join(random.pick([',', ', ']))}}`)
}

function logLine(names: readonly string[], random: Random): string {
  if (random.chance(0.1)) return random.pick(LINES)
  return JSON.stringify({
    record_id: random.pick(VALUES),
    field: random.chance(0.9) && names.length > 0 ? random.pick(names) : random.pick(VALUES),
    source: random.pick(['import', 'human_override', 'ai', 7, null]),
    actor: random.pick(['agent:a', '', null]),
    at: random.pick(['2026-01-01T00:00:00Z', '2026-01-01T00:00:00', '9999-01-01T00:00:00Z', 'soon', null]),
    input_hash: random.pick(['sha256:00', null, 7]),
    ...(random.chance(0.3)
      ? { cost_usd: 0.1, model: 'm', run_id: '999999999', seq: 4, values: { a: 1 } }
      : {}),
  })
}

/** Fails for a value of the source that the new sheet has neither in its record nor set aside. */
function checkNothingLost({ files }: FuzzedSheet, converted: ConvertedSheet): void {
  const aside = String(fileOf(converted, SET_ASIDE_FILE) ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject)
  const adapted = converted.report.list().map(({ message }) => message)
  const contract = parseContract(String(fileOf(converted, 'contract.yaml')))
  const entry = (contract.document['schema'] as readonly JsonObject[])[0] ?? {}
  const fields = new Map(
    (entry['properties'] as readonly JsonObject[]).map((property) => {
      const custom = (property['customProperties'] ?? []) as readonly JsonObject[]
      const folio =
        custom.find((each) => each['property'] === 'folioName')?.['value'] ?? property['name'] ?? null
      return [folio, String(property['name'])] as const
    }),
  )
  let next = 0
  for (const [index, line] of String(files.get('records.jsonl')).split('\n').entries()) {
    if (line.trim() === '') continue
    const asideHere = aside.filter((each) => each['file'] === 'records.jsonl' && each['line'] === index + 1)
    if (asideHere.some((each) => each['field'] === null)) continue
    const quoted = line
      .replace(/^\ufeff/, '')
      .replace(/"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g, (token) =>
        token.startsWith('"') ? token : `"${token}"`,
      )
    const raw = parseExactly(quoted) as JsonObject
    const record = converted.records[next] ?? assert.fail(`line ${index + 1} has no record`)
    next += 1
    for (const [name, value] of Object.entries(raw)) {
      if (value === null) continue
      const field = fields.get(name) ?? assert.fail(`the field ${name} is missing`)
      const found = Object.hasOwn(record, field) ? (record[field] ?? null) : null
      if (jsonEqual(found, value)) continue
      if (field === 'id') {
        const original = record['original_id'] ?? record['original_id_2'] ?? null
        assert.ok(original !== null || found === JSON.stringify(value), `the id ${JSON.stringify(value)}`)
        continue
      }
      const isAside = asideHere.some(
        (each) => each['field'] === name && jsonEqual(each['value'], JSON.parse(JSON.stringify(value))),
      )
      const isReported = adapted.some((message) => message.startsWith(`field ${JSON.stringify(name)}: `))
      assert.ok(
        isAside || (isReported && (found !== null || value === '')),
        `line ${index + 1}: ${name} was ${JSON.stringify(value)}, is ${JSON.stringify(found)}`,
      )
    }
  }
  assert.equal(next, converted.records.length)
  const derived = new Set(
    contract.fields.filter((field) => field.declaredDerived === true).map(({ name }) => name),
  )
  for (const record of converted.records)
    assert.deepEqual([...valueFaults(record, { contract, derived })], [])
  const logged = String(files.get('provenance.jsonl'))
    .split('\n')
    .filter((line) => line.trim() !== '')
  const asideLog = aside.filter((each) => each['file'] === 'provenance.jsonl')
  assert.equal(converted.log.length + asideLog.length, logged.length)
  for (const path of files.keys()) {
    const kept = converted.files.some((file) => file.path === path || file.path === `${path}.folio`)
    assert.ok(kept || converted.copied.some(({ from }) => from === path) || path.endsWith('.jsonl'), path)
  }
}

function fileOf(converted: ConvertedSheet, path: string): Buffer | null {
  const file = converted.files.find((each) => each.path === path)
  return file === undefined ? null : Buffer.from(file.bytes)
}

function write(directory: string, { files }: FuzzedSheet): void {
  for (const [path, content] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
}

test('no value of a fuzzed sheet is lost, and none stops the adoption', async () => {
  const { count, random, again } = fuzzRun({ test: 60, fuzz: 2000 })
  const root = mkdtempSync(join(tmpdir(), 'colophon-folio-'))
  const kinds = await loadKinds({ transport: noCalls(), dialect: 'sqlite' })
  let refused = 0
  let opened = 0
  try {
    for (let number = 0; number < count; number += 1) {
      const sheet = fuzzedSheet(random)
      const directory = join(root, `folio-${number}`)
      write(directory, sheet)
      try {
        const source = new FolioSource(directory)
        const converted = convertFolioSheet({ source, kinds, name: 'x', now: new Date(), target: directory })
        checkNothingLost(sheet, converted)
        // Opening a store takes far longer than a conversion.
        if (number % 100 !== 0) continue
        const { records } = await adoptFolioSheet(join(root, `new-${number}`), directory, {
          actor: null,
          check: false,
        })
        assert.equal(records, converted.records.length)
        opened += 1
      } catch (error) {
        if (!(error instanceof ContractError)) {
          throw new Error(
            `sheet ${number}: ${(error as Error).message}\n${again}\n${[...sheet.files].map(([path, text]) => `--- ${path}\n${String(text)}`).join('\n')}`,
            { cause: error },
          )
        }
        // The contract has no properties, or names one twice.
        assert.match(error.message, /^contract\.yaml:\d+: /)
        refused += 1
      }
      rmSync(directory, { recursive: true })
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  assert.ok(refused < count / 10, `${refused} of ${count} contracts were refused`)
  assert.ok(opened > count / 200)
})

test('the fuzzer makes sheets with records, derivations and logs', () => {
  const { random } = fuzzRun({ test: 1, fuzz: 1 })
  const sheets = Array.from({ length: 50 }, () => fuzzedSheet(random))
  assert.ok(sheets.some(({ files }) => files.has('derivations/1.yaml')))
  assert.ok(sheets.every(({ files }) => isJsonObject(Object.fromEntries(files))))
})
