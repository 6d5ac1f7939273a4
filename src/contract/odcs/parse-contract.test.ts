import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractText, contractWith, fieldWith } from '../../../test/support/contract-with.ts'
import { ContractError } from '../../errors/service-error.ts'
import type { JsonObject } from '../json/json.ts'
import { parseContract } from './parse-contract.ts'

/** The message of the ContractError that this text causes. */
function valueError(text: string): string {
  try {
    parseContract(text)
  } catch (error) {
    assert.ok(error instanceof ContractError, String(error))
    return error.message
  }
  assert.fail(`no fault in ${text.slice(0, 500)}`)
}

/** The message for a contract with this property, which stands on line 9. */
function propertyError(property: string): string {
  return valueError(contractText([property]))
}

function fieldError(type: string, more: string): string {
  return propertyError(`{name: value, logicalType: ${type}, ${more}}`)
}

test('D4: status may be absent, description plain text, and x- keys are kept everywhere', () => {
  const text = contractText(['{name: a, logicalType: string, x-mine: {deep: [1]}}'])
  const { document } = parseContract(`description: plain\nx-top: 1\n${text}`)
  assert.equal(document['description'], 'plain')
  assert.equal(document['x-top'], 1)
  assert.equal(Object.hasOwn(document, 'status'), false)
  const [entry] = document['schema'] as unknown as [{ properties: JsonObject[] }]
  assert.deepEqual(entry.properties[1]!['x-mine'], { deep: [1] })
})

test('D4: keys that the service does not use are returned, nulls count as absent', () => {
  const { document } = parseContract(`tenant: t\ndomain: null\nprice: {priceAmount: 1}\n${contractText([])}`)
  assert.equal(document['tenant'], 't')
  assert.equal(document['domain'], null)
  assert.deepEqual(document['price'], { priceAmount: 1 })
})

test('D8: the defaults of the standard are filled in', () => {
  const { document } = contractWith(
    '{name: a, logicalType: string, unique: true}',
    '{name: b, logicalType: date}',
  )
  const [entry] = document['schema'] as unknown as [{ properties: JsonObject[] }]
  assert.deepEqual(entry.properties, [
    { name: 'id', logicalType: 'string', required: true, primaryKey: true, unique: false },
    { name: 'a', logicalType: 'string', unique: true, primaryKey: false, required: false },
    { name: 'b', logicalType: 'date', primaryKey: false, required: false, unique: false },
  ])
})

test('D4: versions 3.0 and 3.1 of the standard are supported, others are not', () => {
  for (const version of ['v3.0.0', 'v3.0.2', 'v3.1.0', 'v3.1.7']) parseContract(contractText([], version))
  for (const version of ['v2.2.2', 'v3.2.0', '3.1.0', 'v3.1', 'v4.0.0']) {
    assert.match(
      valueError(contractText([], version)),
      /^contract\.yaml:1: apiVersion is .*v3\.0\.x and v3\.1\.x/,
    )
  }
  assert.match(valueError('kind: DataContract'), /^contract\.yaml:1: apiVersion is missing/)
  for (const text of ['', '[]', 'text'])
    assert.match(valueError(text), /^contract\.yaml:1: a contract is a map/)
})

test('D4: a misspelt key is reported with file, line and the intended key', () => {
  assert.equal(
    propertyError('{name: a, logicalType: string, requird: true}'),
    'contract.yaml:9: unknown key "requird" in schema[0].properties[1]; did you mean "required"?',
  )
  assert.match(
    valueError(`${contractText([])}nmae: x\n`),
    /^contract\.yaml:9: unknown key "nmae" in the contract; did you/,
  )
  assert.match(
    fieldError('integer', 'logicalTypeOptions: {minimun: 1}'),
    /9: unknown key "minimun".*"minimum"/,
  )
  assert.match(fieldError('string', 'colour: red'), /unknown key "colour".*start with "x-"/)
  assert.match(valueError(`${contractText([])}constructor: x\n`), /unknown key "constructor"/)
})

test('D4: wrong types of known keys are reported, also where the service does not use them', () => {
  assert.match(valueError(`tags: x\n${contractText([])}`), /:1: tags must be a list, but is "x"/)
  assert.match(
    valueError(`name: 5\n${contractText([])}`),
    /:1: name must be a string, but is 5; put it in quotes/,
  )
  const server = 'servers:\n  - {server: s, type: duckdb, databse: x}\n'
  assert.match(
    valueError(server + contractText([])),
    /:2: unknown key "databse" in servers\[0\]; did you mean "database"\?/,
  )
  assert.match(
    valueError(`servers:\n  - {server: s, type: duck, host: x}\n${contractText([])}`),
    /:2: servers\[0\]\.type is/,
  )
  assert.match(
    valueError(`team: {members: [{name: x}]}\n${contractText([])}`),
    /:1: team\.members\[0\] lacks .*"username"/,
  )
})

test('D4: values that v3.0 does not restrict are not restricted here', () => {
  const more = 'team: [{name: x, phone: 1}]\nsupport: [{channel: c, url: u, topic: t}]\n'
  assert.match(valueError(more + contractText([])), /team\[0\]/)
  parseContract(more + contractText([], 'v3.0.2'))
  const bounds =
    '{name: a, logicalType: integer, logicalTypeOptions: {maximum: 5, exclusiveMaximum: true, minimum: 1, exclusiveMinimum: false}}'
  const older = parseContract(contractText([bounds], 'v3.0.1'))
  assert.deepEqual(older.fieldByName.get('a')!.options, { minimum: 1, exclusiveMaximum: 5 })
  assert.match(valueError(contractText([bounds])), /exclusiveMaximum must be a number/)
})

test('D4: schema has exactly one entry', () => {
  const text = contractText([])
  assert.match(
    valueError(`${text}  - {name: more, properties: []}\n`),
    /:5: schema must have exactly one entry.*has 2/,
  )
  assert.match(valueError(text.replace(/schema:[^]*/, 'schema: []\n')), /exactly one entry.*has 0/)
  assert.match(valueError(text.replace(/schema:[^]*/, '')), /lacks the key "schema"/)
})

test('D5: the primary key is one required string called id', () => {
  const withId = (id: string): string => contractText([]).replace(/\{name: id.*\}/, id)
  assert.match(
    valueError(withId('{name: id, logicalType: string, required: true}')),
    /no property has primaryKey: true/,
  )
  assert.match(
    valueError(withId('{name: key, logicalType: string, required: true, primaryKey: true}')),
    /:8: .*called "key"/,
  )
  assert.match(
    valueError(withId('{name: id, logicalType: integer, required: true, primaryKey: true}')),
    /:8: .*must be a string/,
  )
  assert.match(
    valueError(withId('{name: id, logicalType: string, required: false, primaryKey: true}')),
    /:8: .*required: true/,
  )
  assert.match(
    propertyError('{name: b, logicalType: string, primaryKey: true}'),
    /:9: a second primaryKey: true/,
  )
  const implied = parseContract(withId('{name: id, logicalType: string, primaryKey: true}'))
  assert.equal(implied.fields[0]!.required, true)
})

test('D5: field names are words, unique whatever their case, and may be SQL keywords', () => {
  for (const name of ['select', 'ORDER', '_x', 'a1']) contractWith(`{name: ${name}, logicalType: string}`)
  for (const name of ["'1a'", 'a-b', "'a b'", 'ä', "''", '$seq', "'a\"b'"]) {
    assert.match(propertyError(`{name: ${name}, logicalType: string}`), /:9: the field name/)
  }
  assert.match(
    propertyError('{name: ID, logicalType: string}'),
    /:9: the field name "ID" differs from "id" in case only/,
  )
  assert.match(propertyError('{name: id, logicalType: string}'), /:9: the field name "id" is there twice/)
  for (const name of ['__proto__', 'true', 'False']) {
    assert.match(
      propertyError(`{name: "${name}", logicalType: string}`),
      new RegExp(`:9: a field cannot be called "${name}"`),
    )
  }
})

test('a contract has at most 1000 fields', () => {
  const many = (count: number): string =>
    contractText(Array.from({ length: count }, (_, i) => `{name: f${i}, logicalType: string}`))
  assert.equal(parseContract(many(999)).fields.length, 1000)
  assert.match(valueError(many(1000)), /1001 fields; a sheet has at most 1000/)
})

test('D6: a field needs one of the logical types', () => {
  assert.match(propertyError('{name: a}'), /:9: the field "a" has no logicalType; add one of string, integer/)
  assert.match(
    propertyError('{name: a, logicalType: strng}'),
    /:9: the logicalType "strng" is unknown; did you mean "string"/,
  )
  assert.match(propertyError('{name: a, logicalType: map}'), /use one of string, integer/)
})

test('D6: options belong to their type, and must not contradict each other', () => {
  const faults: readonly (readonly [type: string, options: string, fault: RegExp])[] = [
    ['string', 'minimum: 1', /unknown key "minimum"/],
    ['string', 'minLength: -1', /minLength is -1/],
    ['string', 'minLength: 1.5', /must be an integer/],
    ['string', 'minLength: 5, maxLength: 4', /minLength 5 is more than maxLength 4/],
    ['string', "pattern: '('", /the pattern "\(" cannot be used/],
    ['string', "pattern: '(?=a)'", /without look-around/],
    ['string', "pattern: '((a{100}){100}){100}'", /cannot be used/],
    ['integer', 'minimum: 5, maximum: 4', /the range 5 to 4 is empty/],
    ['integer', 'minimum: 5, exclusiveMaximum: 5', /is empty/],
    ['integer', 'minimum: 1.2, maximum: 1.8', /is empty/],
    ['integer', 'exclusiveMinimum: 1, exclusiveMaximum: 2', /is empty/],
    ['integer', 'minimum: 300, format: u8', /the range 300 to 255 is empty/],
    ['integer', 'format: i9', /did you mean "i8"|use one of/],
    ['number', 'multipleOf: 0', /more than 0/],
    ['number', 'format: i32', /did you mean "f32"/],
    ['date', 'minimum: 1.1.2020', /minimum is "1\.1\.2020", but must be a date/],
    ['date', "minimum: '2024-01-02', maximum: '2024-01-01'", /is empty/],
    ['timestamp', "maximum: '2024-01-01T00:00:00'", /must be a timestamp \(ISO 8601 with offset/],
    ['timestamp', "minimum: '2024-01-01T01:00:00Z', maximum: '2024-01-01T01:30:00+01:00'", /is empty/],
    ['array', 'minItems: 2, maxItems: 1', /no value could meet both/],
    ['array', 'uniqueItems: some', /must be a boolean/],
    ['object', 'required: [a, b], maxProperties: 1', /more properties than maxProperties 1/],
    ['object', 'required: a', /must be a list/],
  ]
  for (const [type, options, fault] of faults) {
    assert.match(fieldError(type, `logicalTypeOptions: {${options}}`), fault, `${type}: ${options}`)
    assert.match(fieldError(type, `logicalTypeOptions: {${options}}`), /^contract\.yaml:9: /)
  }
  assert.deepEqual(fieldWith('string', 'logicalTypeOptions: {minLength: 1, format: null}').options, {
    minLength: 1,
  })
})

test('D6: items belong to arrays and properties to objects, at any depth', () => {
  assert.match(fieldError('string', 'items: {logicalType: string}'), /unknown key "items"/)
  assert.match(fieldError('array', 'properties: []'), /unknown key "properties"/)
  assert.match(fieldError('array', 'items: {logicalType: strin}'), /:9: the logicalType "strin"/)
  const deep = fieldWith('array', 'items: {properties: [{name: a, items: {logicalType: date}}, {name: b}]}')
  assert.equal(deep.items?.type, 'object')
  assert.equal(deep.items.properties?.[0]?.type, 'array')
  assert.equal(deep.items.properties[0].items?.type, 'date')
  assert.equal(deep.items.properties[1]?.type, null)
  assert.match(fieldError('object', 'properties: [{logicalType: string}]'), /lacks the key "name"/)
  assert.match(fieldError('object', 'properties: [{name: a}, {name: a}]'), /"a" is there twice/)
})

test('D6: a closed list is the rule invalidValues with mustBe 0', () => {
  const rule = (values: string, more = 'mustBe: 0'): string =>
    `quality: [{metric: invalidValues, arguments: {validValues: ${values}}, ${more}}]`
  assert.deepEqual(fieldWith('string', rule('[a, b, null]')).validValues, ['a', 'b'])
  assert.deepEqual(fieldWith('integer', rule('[1, 2]')).validValues, [1, 2])
  assert.deepEqual(fieldWith('array', `items: {logicalType: string, ${rule('[a]')}}`).items?.validValues, [
    'a',
  ])
  assert.equal(fieldWith('string', rule('[a]', 'mustBeLessThan: 5')).validValues, null)
  assert.equal(fieldWith('string', 'quality: [{metric: nullValues, mustBe: 0}]').validValues, null)
  assert.match(fieldError('string', rule('[1]')), /in validValues, 1 is not a string/)
  assert.match(fieldError('string', rule('[a]') + ', logicalTypeOptions: {minLength: 2}'), /shorter than 2/)
  assert.match(fieldError('string', rule('[]')), /leaves no value/)
  assert.match(fieldError('string', rule('a')), /must be a list/)
  assert.match(fieldError('string', rule('[[a]]')), /not a single value/)
  assert.match(fieldError('array', rule('[a]')), /lists single values/)
  assert.match(
    fieldError('string', rule('[a]', 'mustBe: 0, mustNotBe: 1')),
    /one comparison.*mustBe and mustNotBe/,
  )
})

test('D7: editableBy and x-editable-by are lists of patterns and mean the same', () => {
  const custom = (value: string): string => `customProperties: [{property: editableBy, value: ${value}}]`
  assert.deepEqual(fieldWith('string', custom("['user:*']")).editableBy, ['user:*'])
  assert.deepEqual(fieldWith('string', "x-editable-by: ['user:*']").editableBy, ['user:*'])
  assert.deepEqual(fieldWith('string', custom('[]')).editableBy, [])
  assert.equal(fieldWith('string').editableBy, null)
  assert.match(fieldError('string', custom('user')), /:9: editableBy must be a list of patterns/)
  assert.match(
    fieldError('string', "x-editable-by: ['user:[a']"),
    /:9: the pattern "user:\[a" of x-editable-by: a bracket/,
  )
  assert.match(fieldError('string', 'x-editable-by: [1]'), /must be a text/)
  assert.match(fieldError('string', `${custom('[a]')}, x-editable-by: [b]`), /mean the same; keep one/)
  const twice = 'customProperties: [{property: editableBy, value: [a]}, {property: editableBy, value: [b]}]'
  assert.match(fieldError('string', twice), /there twice/)
  // A misspelling here would leave the field open to everybody.
  const misspelt = 'customProperties: [{propery: editableBy, value: [a]}]'
  assert.match(
    valueError(contractText([`{name: a, logicalType: string, ${misspelt}}`], 'v3.0.2')),
    /unknown key "propery"/,
  )
})

test('indexed and x-indexed are booleans and mean the same', () => {
  const custom = (value: string): string => `customProperties: [{property: indexed, value: ${value}}]`
  assert.equal(fieldWith('string').indexed, false)
  assert.equal(fieldWith('timestamp', 'x-indexed: true').indexed, true)
  assert.equal(fieldWith('string', 'x-indexed: false').indexed, false)
  assert.equal(fieldWith('string', custom('true')).indexed, true)
  assert.match(fieldError('string', 'x-indexed: yes please'), /:9: .*x-indexed must be a boolean/)
  assert.match(fieldError('string', custom('[1]')), /:9: .*must be a boolean/)
  assert.match(fieldError('string', `${custom('true')}, x-indexed: true`), /mean the same; keep one/)
  for (const type of ['array', 'object'] as const) {
    assert.match(fieldError(type, 'x-indexed: true'), new RegExp(`type ${type} has no order`))
    assert.equal(fieldWith(type, 'x-indexed: false').indexed, false)
  }
})

test('D7: deletableBy stands on the contract or on its schema entry', () => {
  const custom = "customProperties: [{property: deletableBy, value: ['user:*']}]"
  const onEntry = (text: string): string => text.replace('name: things', `name: things\n    ${custom}`)
  assert.equal(contractWith().deletableBy, null)
  assert.deepEqual(parseContract(`${custom}\n${contractText([])}`).deletableBy, ['user:*'])
  assert.deepEqual(parseContract(onEntry(contractText([]))).deletableBy, ['user:*'])
  assert.match(valueError(`${custom}\n${onEntry(contractText([]))}`), /keep one/)
})

test('D7: x-derived and x-inputs are read', () => {
  const field = fieldWith('string', 'x-derived: true, x-inputs: [id]')
  assert.equal(field.declaredDerived, true)
  assert.deepEqual(field.declaredInputs, ['id'])
  assert.equal(fieldWith('string').declaredDerived, null)
  assert.equal(fieldWith('string').declaredInputs, null)
  assert.match(fieldError('string', 'x-derived: maybe'), /:9: .*x-derived must be a boolean/)
  assert.match(fieldError('string', 'x-inputs: id'), /:9: .*x-inputs must be a list/)
})

test('the contract keeps its text', () => {
  const text = contractText([])
  assert.equal(parseContract(text).text, text)
})
