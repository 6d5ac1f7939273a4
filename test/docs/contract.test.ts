import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOGICAL_TYPES, type LogicalType } from '../../src/contract/contract.ts'
import { DOCUMENT } from '../../src/contract/odcs/odcs-document.ts'
import { PROPERTY, qualityShape, SCHEMA_ENTRY } from '../../src/contract/odcs/odcs-schema.ts'
import { MAX_GLOB_LENGTH } from '../../src/contract/values/glob.ts'
import { JSON_DEPTH_LIMIT } from '../../src/contract/json/json-depth.ts'
import { MAX_FIELDS, parseContract } from '../../src/contract/odcs/parse-contract.ts'
import {
  MAX_PATTERN_LENGTH,
  MAX_PATTERN_SIZE,
  MAX_PATTERN_SIZE_TOGETHER,
  MAX_PATTERN_WORK,
} from '../../src/contract/values/pattern.ts'
import { stringFormat } from '../../src/contract/values/string-format.ts'
import { valueError } from '../../src/contract/values/validate-value.ts'
import { parseYamlFile } from '../../src/contract/yaml/yaml-file.ts'
import {
  MAX_CHARACTERS,
  MAX_DEPTH,
  MAX_DIRECTIVES,
  MAX_FILE_BYTES,
  MAX_LINES,
  MAX_TOKENS,
  MAX_VALUES,
} from '../../src/contract/yaml/yaml-limits.ts'
import { MAX_FOLDER_BYTES } from '../../src/sheet/definition/derivation-folder.ts'
import { MAX_LINE_BYTES } from '../../src/provenance/read-lines.ts'
import { columnDefinition } from '../../src/store/sqlite/database/schema.ts'
import { contractText, fieldWith } from '../support/contract-with.ts'
import { code, codeBlocks, codes, readPage, section, tableOf, tables } from '../support/markdown.ts'
import { odcsFaults, odcsSchemaMissing } from '../support/odcs-schema.ts'

const page = readPage('docs/reference/contract.md')

function example(): string {
  const [block] = codeBlocks(section(page, 'An example'))
  assert.equal(block?.lang, 'yaml')
  return block.text
}

/** The keys in the first column of the tables of a section. */
function tableKeys(title: string): string[] {
  return tables(section(page, title)).flatMap(({ rows }) => rows.map(([first]) => code(first)))
}

/** The keys that a section says are checked and kept. */
function keptKeys(title: string): string[] {
  const start = '(?:Checked, kept and returned|These are checked|All other rules are checked)'
  const sentence = new RegExp(`^${start}[^:]*: (.*?)\\.\\s`, 'ms').exec(section(page, title))
  assert.ok(sentence?.[1], `${title} says which keys are kept`)
  return codes(sentence[1]).filter((name) => !['sql', 'custom'].includes(name))
}

test('the example of the contract reference is accepted, and shows every type', () => {
  const contract = parseContract(example())
  assert.deepEqual(new Set(contract.fields.map(({ type }) => type)), new Set(LOGICAL_TYPES))
  assert.deepEqual(contract.deletableBy, ['human:*'])
  assert.deepEqual(contract.fieldByName.get('price')?.editableBy, ['human:*', 'agent:pricing'])
  assert.deepEqual(contract.fieldByName.get('state')?.validValues, ['new', 'good', 'worn'])
})

test('the example of the contract reference is valid by the standard', { skip: odcsSchemaMissing }, () => {
  assert.deepEqual(odcsFaults(parseYamlFile(example(), 'contract.yaml').value), [])
  assert.deepEqual(odcsFaults(parseContract(example()).document), [])
})

for (const [title, shape, own] of [
  ['The contract itself', DOCUMENT, []],
  ['The schema entry', SCHEMA_ENTRY, []],
  ['Fields', PROPERTY, ['items', 'x-editable-by', 'x-indexed', 'x-derived', 'x-inputs', 'properties']],
  ['Closed lists', { keys: everyQualityKey() }, []],
] as const) {
  test(`"${title}" of the contract reference lists exactly the keys that the service knows there`, () => {
    const documented = [...tableKeys(title), ...keptKeys(title)]
    assert.deepEqual(documented.toSorted(), [...Object.keys(shape.keys), ...own].toSorted())
  })
}

function everyQualityKey(): object {
  const kinds = ['text', 'library', 'sql', 'custom'].map((type) => qualityShape(type, false).keys)
  return Object.assign({}, ...kinds) as object
}

test('required keys are those that the contract reference marks as required', () => {
  for (const [title, { required = [] }] of [
    ['The contract itself', DOCUMENT],
    ['The schema entry', SCHEMA_ENTRY],
  ] as const) {
    const said = tableOf(section(page, title), 'Key').rows.filter(
      ([, , byDefault]) => byDefault === 'required',
    )
    assert.deepEqual(said.map(([key]) => code(key)).toSorted(), [...required].toSorted())
  }
  for (const missing of ['name', 'logicalType']) {
    const [, , byDefault] =
      tableOf(section(page, 'Fields'), 'Key').rows.find(([key]) => key === `\`${missing}\``) ?? []
    assert.equal(byDefault, 'required')
    const property = { name: 'a', logicalType: 'string', [missing]: null }
    assert.throws(() => parseContract(contractText([JSON.stringify(property)])), /contract\.yaml:9: /)
  }
})

test('defaults of a field are those of the contract reference, and are filled in as it says', () => {
  const filledIn = tableOf(section(page, 'What the service adds'), 'On each field').rows.map(([key]) =>
    code(key),
  )
  const fields = tableOf(section(page, 'Fields'), 'Key').rows
  const document = parseContract(contractText(['{name: a, logicalType: string}'])).document
  const [entry] = document['schema'] as readonly { readonly properties: readonly Record<string, unknown>[] }[]
  const property = { ...entry?.properties[1] }
  for (const key of filledIn.filter((name) => name !== 'derived')) {
    const byDefault = fields.find(([name]) => name === `\`${key}\``)?.[2]
    assert.equal(code(byDefault), JSON.stringify(property[key]), key)
    delete property[key]
  }
  assert.deepEqual(property, { name: 'a', logicalType: 'string' }, 'nothing else is filled in')
})

test('types: JSON form and column are those of the contract reference', () => {
  const { rows } = tableOf(section(page, 'Types'), '`logicalType`')
  assert.deepEqual(rows.map(([type]) => code(type)).toSorted(), [...LOGICAL_TYPES].toSorted())
  for (const [type, , column, value] of rows) {
    const field = fieldWith(code(type))
    assert.equal(columnDefinition(field), `"value" ${code(column)}`)
    assert.equal(valueError(field, JSON.parse(code(value))), null)
  }
})

/** A value for an option that fits every type which has it. */
function sampleOf(type: LogicalType, option: string): unknown {
  const moments: Partial<Record<LogicalType, string>> = {
    date: '2026-01-31',
    timestamp: '2026-01-31T08:00:00Z',
    time: '08:00:00',
  }
  if (option === 'format') return { integer: 'u8', number: 'f32' }[type as string] ?? 'email'
  if (/^exclusiveM|^m..imum$/.test(option)) return moments[type] ?? 1
  if (option === 'uniqueItems' || option === 'timezone') return true
  if (option === 'required') return ['a']
  return option === 'pattern' || option === 'defaultTimezone' ? 'a' : 1
}

/** The options that D6 names; what the standard has beyond them is for the page to tell. */
const D6_OPTIONS =
  'minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf ' +
  'minItems maxItems uniqueItems minProperties maxProperties required'

function isTaken(type: LogicalType, option: string): boolean {
  try {
    fieldWith(type, `logicalTypeOptions: ${JSON.stringify({ [option]: sampleOf(type, option) })}`)
    return true
  } catch (error) {
    assert.match((error as Error).message, new RegExp(`unknown key "${option}"`))
    return false
  }
}

test('each type takes the options that the contract reference lists, and none of the other types', () => {
  const listed = tableOf(section(page, 'Constraints'), 'Type').rows.map(([type, option]) => ({
    type: code(type),
    option: code(option),
  }))
  const names = new Set([...D6_OPTIONS.split(' '), ...listed.map(({ option }) => option)])
  for (const type of LOGICAL_TYPES.filter((name) => name !== 'boolean')) {
    const taken = [...names].filter((option) => isTaken(type, option))
    const told = listed.filter((row) => row.type === type).map(({ option }) => option)
    assert.deepEqual(taken.toSorted(), told.toSorted(), type)
  }
})

test('string formats are checked or not as the contract reference says', () => {
  const paragraph = /\*\*Formats of strings\*\*(.*?)Any other format,(.*?)\n\n/s.exec(
    section(page, 'Constraints'),
  )
  for (const name of codes(paragraph?.[1] ?? '')) assert.ok(stringFormat(name), `${name} is checked`)
  for (const name of codes(paragraph?.[2] ?? ''))
    assert.equal(stringFormat(name), null, `${name} is not checked`)
  assert.equal(codes(paragraph?.[1] ?? '').length, 7)
})

test('integer formats are those of the contract reference', () => {
  const paragraph = /\*\*Formats of integers\*\* are (.*?)\./s.exec(section(page, 'Constraints'))
  const formats = codes(paragraph?.[1] ?? '')
  assert.equal(formats.length, 10)
  for (const format of formats) fieldWith('integer', `logicalTypeOptions: {format: ${format}}`)
  assert.throws(() => fieldWith('integer', 'logicalTypeOptions: {format: u12}'))
})

test('the snippets of the contract reference have the effect described beside them', () => {
  const [rule] = codeBlocks(section(page, 'Closed lists'))
  const state = parseContract(contractText([JSON.stringify(parseYamlFile(rule?.text ?? '', 'rule').value)]))
    .fields[1]
  assert.deepEqual(state?.validValues, ['new', 'good', 'worn'])
  const [derived] = codeBlocks(section(page, 'Fields'))
  const country = parseContract(contractText([JSON.stringify(parseYamlFile(derived?.text ?? '', 'x').value)]))
    .fields[1]
  assert.deepEqual([country?.declaredDerived, country?.declaredInputs], [true, ['isbn']])
  const [custom] = codeBlocks(section(page, 'Who may write'))
  const more = parseYamlFile(custom?.text ?? '', 'custom').value as object
  const field = parseContract(contractText([JSON.stringify({ name: 'a', logicalType: 'string', ...more })]))
    .fields[1]
  assert.deepEqual(field?.editableBy, ['human:*', 'agent:pricing'])
})

test('the limits of the contract reference are those of the service', () => {
  const { rows } = tableOf(section(page, 'Limits'), 'What')
  assert.deepEqual(
    rows.map(([, most]) => Number(most)),
    [
      MAX_FILE_BYTES,
      MAX_FOLDER_BYTES,
      MAX_LINES,
      MAX_TOKENS,
      MAX_DEPTH,
      MAX_VALUES,
      MAX_CHARACTERS,
      MAX_DIRECTIVES,
      MAX_FIELDS,
      MAX_PATTERN_LENGTH,
      MAX_PATTERN_SIZE,
      MAX_PATTERN_SIZE_TOGETHER,
      MAX_PATTERN_WORK,
      MAX_GLOB_LENGTH,
    ],
  )
  const text = section(page, 'Files from elsewhere')
  assert.ok(text.includes(`${MAX_LINE_BYTES / 1024 / 1024} MiB`))
  assert.ok(text.includes(`more than ${JSON_DEPTH_LIMIT} levels`))
})
