import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { idSourceOf } from '../../contract/odcs/id-source.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { originalNames } from '../../contract/odcs/original-names.ts'
import { adoptContract, type Adoption } from './adopt-contract.ts'

const ELSEWHERE = readFileSync(
  new URL('../../../test/contracts/elsewhere-orders.yaml', import.meta.url),
  'utf8',
)

function adopt(text: string, options: Partial<Parameters<typeof adoptContract>[1]> = {}): Adoption {
  return adoptContract({ text, name: 'their.yaml' }, { schema: null, key: null, ...options })
}

/** A contract with these properties. */
function withProperties(properties: readonly JsonObject[], more: JsonObject = {}): string {
  return stringify({
    apiVersion: 'v3.1.0',
    kind: 'DataContract',
    id: 'x',
    version: '1',
    schema: [{ name: 'things', properties }],
    ...more,
  })
}

test('a foreign contract becomes one of a sheet, with everything kept that the standard allows', () => {
  const { contract, fields, notes } = adopt(ELSEWHERE, { schema: 'orders' })
  assert.deepEqual(
    fields.map(({ field, column, type, doubts }) => [field, column, type, doubts]),
    [
      ['id', 'order_id', 'string', ['the key, so called id', 'ids are texts: was of type integer']],
      ['customer_ref', 'customer-ref', 'string', ['renamed, since a field cannot be called that']],
      ['original_id', 'id', 'string', ['renamed, since a field cannot be called that']],
      ['total', 'total', 'number', ['number, by its physicalType "decimal(10,2)"']],
      [
        'created_at',
        'created_at',
        'timestamp',
        ['a timestamp, by its physicalType "timestamp with time zone"'],
      ],
      ['lines', 'lines', 'array', ['array, by its physicalType "ARRAY<STRUCT<sku STRING>>"']],
      ['mystery', 'mystery', 'string', ['the type "geography" is unknown: read as text']],
    ],
  )
  assert.deepEqual(notes, ['left out the schema entries "customers"'])
  assert.deepEqual(
    Object.fromEntries(Array.from(originalNames(contract)).filter(([, names]) => names.length > 0)),
    {
      id: ['order_id', 'Order number', 'ord_id'],
      customer_ref: ['customer-ref'],
      original_id: ['id'],
    },
  )
  const { document } = contract
  for (const key of [
    'servers',
    'team',
    'roles',
    'price',
    'customProperties',
    'tenant',
    'dataProduct',
    'contractCreatedTs',
  ])
    assert.ok(document[key] !== undefined, key)
  assert.equal(document['slaDefaultElement'], 'orders.id')
  const [latency, retention] = document['slaProperties'] as readonly JsonObject[]
  assert.equal(latency?.['element'], 'orders.customer_ref')
  assert.equal(retention?.['element'], 'customers.customer_id')
  const [entry] = document['schema'] as readonly JsonObject[]
  assert.deepEqual([entry?.['tags'], entry?.['businessName']], [['finance'], 'Orders'])
  const [id, ref] = (entry?.['properties'] ?? []) as readonly JsonObject[]
  assert.deepEqual(
    [id?.['businessName'], id?.['physicalName'], id?.['classification'], id?.['logicalTypeOptions'] ?? null],
    ['Order number', 'ord_id', 'public', null],
  )
  assert.deepEqual(
    [ref?.['businessName'], ref?.['encryptedName']],
    ['customer-ref', 'customer_ref_encrypted'],
  )
})

test('one of several schema entries must be chosen', () => {
  assert.throws(() => adopt(ELSEWHERE), {
    type: 'ValidationError',
    message: /has 2 schema entries \("orders", "customers"\), and a sheet has one; choose it with --schema/,
  })
  assert.throws(() => adopt(ELSEWHERE, { schema: 'order' }), {
    message: /has no schema entry "order"; it has "orders"/,
  })
  assert.equal(adopt(ELSEWHERE, { schema: 'orders_v1' }).fields.length, 7)
  assert.deepEqual(
    adopt(ELSEWHERE, { schema: 'customers' }).fields.map(({ field }) => field),
    ['id'],
  )
})

test('a key of several fields is joined, in the order of their positions', () => {
  const text = withProperties([
    { name: 'line', logicalType: 'integer', primaryKey: true, primaryKeyPosition: 2 },
    { name: 'order', logicalType: 'string', primaryKey: true, primaryKeyPosition: 1, physicalName: 'ord' },
  ])
  const { contract, fields } = adopt(text)
  assert.deepEqual(
    contract.fields.map(({ name, primaryKey, required }) => [name, primaryKey, required]),
    [
      ['id', true, true],
      ['line', false, true],
      ['order', false, true],
    ],
  )
  assert.deepEqual(idSourceOf(contract), { kind: 'fields', fields: ['order', 'line'] })
  assert.deepEqual(fields[0]?.doubts, ['the primary key has 2 fields: joined as order:line'])
})

test('without a primary key, a property called id is the key, else one that is required and unique, else records are numbered', () => {
  const keyOf = (...properties: JsonObject[]): string | null =>
    adopt(withProperties(properties)).fields.find(({ field }) => field === 'id')?.column ?? null
  const name = { name: 'name', logicalType: 'string' }
  assert.equal(keyOf(name, { name: 'ID', logicalType: 'integer' }), 'ID')
  assert.equal(keyOf(name, { name: 'sku', logicalType: 'string', unique: true, required: true }), 'sku')
  assert.equal(keyOf(name, { name: 'sku', logicalType: 'string', unique: true }), null)
  const numbered = adopt(withProperties([name]))
  assert.deepEqual(
    numbered.contract.fields.map((field) => field.name),
    ['id', 'name'],
  )
  assert.deepEqual(idSourceOf(numbered.contract), { kind: 'rowNumber' })
})

test('a key other than their primary key can be chosen', () => {
  const text = withProperties([
    { name: 'a', logicalType: 'string', primaryKey: true, primaryKeyPosition: 1 },
    { name: 'b', logicalType: 'date', physicalName: 'B' },
    { name: 'c', logicalType: 'array' },
  ])
  const { contract, notes } = adopt(text, { key: 'B' })
  assert.deepEqual(
    contract.fields.map(({ name, type, required }) => [name, type, required]),
    [
      ['a', 'string', true],
      ['id', 'string', true],
      ['c', 'array', false],
    ],
  )
  assert.deepEqual(notes, ['"a" is the primary key no more'])
  assert.throws(() => adopt(text, { key: 'c' }), { message: /"c" is an array and cannot be the key/ })
  assert.throws(() => adopt(text, { key: 'x' }), {
    message: /has no property "x" for the key; it has "a", "b", "c"/,
  })
})

test('types of other systems become those of the standard', () => {
  const types: Readonly<Record<string, string>> = {
    'VARCHAR(20)': 'string',
    'character varying': 'string',
    uuid: 'string',
    BIGINT: 'integer',
    'NUMBER(10)': 'integer',
    'NUMBER(10,0)': 'integer',
    'NUMBER(10,2)': 'number',
    'double precision': 'number',
    BOOL: 'boolean',
    DATE: 'date',
    'TIMESTAMP_NTZ(9)': 'timestamp',
    datetime: 'timestamp',
    'time without time zone': 'time',
    'text[]': 'array',
    JSONB: 'object',
    'MAP<STRING, INT>': 'object',
    geometry: 'string',
  }
  for (const [physicalType, type] of Object.entries(types)) {
    const { fields } = adopt(
      withProperties([
        { name: 'id', logicalType: 'string', primaryKey: true },
        { name: 'v', physicalType },
      ]),
    )
    assert.equal(fields[1]?.type, type, physicalType)
    const { fields: logical } = adopt(
      withProperties([
        { name: 'id', logicalType: 'string', primaryKey: true },
        { name: 'v', logicalType: physicalType },
      ]),
    )
    assert.equal(logical[1]?.type, type, physicalType)
  }
})

test('parts that cannot be adopted are reported, with the file and the field', () => {
  const id = { name: 'id', logicalType: 'string', primaryKey: true }
  const faults: readonly [text: string, message: RegExp][] = [
    ['- 1\n', /^their\.yaml:1: not a contract/],
    [
      'dataContractSpecification: 1.1.0\nid: x\n',
      /^their\.yaml:1: this is a contract of the Data Contract Specification; export it as ODCS/,
    ],
    ['apiVersion: v2.2.2\nkind: DataContract\n', /^their\.yaml:1: apiVersion is "v2\.2\.2"; only ODCS v3/],
    [withProperties([id], { schema: [] }), /the contract has no schema/],
    [withProperties([]), /the schema entry has no properties/],
    [withProperties([{ logicalType: 'string' }]), /a property must be a map of keys with a name/],
    [
      withProperties([id, { name: 'v', logicalType: 'string', requird: true }]),
      /^their\.yaml: unknown key "requird".*\(at "requird: true"\)$/,
    ],
    [withProperties([id], { apiVersion: 'v3.7.0' }), /apiVersion is "v3\.7\.0"/],
  ]
  for (const [text, message] of faults) assert.throws(() => adopt(text), { type: 'ContractError', message })
})

test('a valid contract of a sheet is unchanged', () => {
  for (const name of ['orders.yaml', 'full-metadata.yaml', 'v3.0.yaml']) {
    const text = readFileSync(new URL(`../../../test/contracts/${name}`, import.meta.url), 'utf8')
    const { contract, fields, notes } = adopt(text)
    const again = adopt(contract.text).contract
    assert.deepEqual(again.document, contract.document)
    assert.deepEqual([notes, fields.flatMap(({ doubts }) => doubts)], [[], []], name)
  }
})
