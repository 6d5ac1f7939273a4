import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseContract } from '../src/contract/odcs/parse-contract.ts'
import { parseYamlFile } from '../src/contract/yaml/yaml-file.ts'
import { ContractError } from '../src/errors/service-error.ts'
import { odcsFaults, odcsSchemaMissing } from './support/odcs-schema.ts'

const skip = odcsSchemaMissing

function contractFile(name: string): string {
  return readFileSync(join(import.meta.dirname, 'contracts', name), 'utf8')
}

for (const name of ['orders.yaml', 'full-metadata.yaml', 'v3.0.yaml']) {
  test(`D4: ${name} is valid by the standard's own JSON Schema, and is accepted`, { skip }, () => {
    const text = contractFile(name)
    assert.deepEqual(odcsFaults(parseYamlFile(text, name).value), [])
    const { document } = parseContract(text, name)
    assert.deepEqual(odcsFaults(document), [], 'with the defaults filled in')
  })
}

/** Each breaks one place of one of the files above: what stands there, and what is put in its place. */
const BREAKS: readonly (readonly [file: string, from: string, to: string])[] = [
  ['orders.yaml', 'name: orders\nversion', 'nmae: orders\nversion'],
  ['orders.yaml', 'kind: DataContract', 'kind: DataContrat'],
  ['orders.yaml', 'tags: [sales, example]', 'tags: sales'],
  ['orders.yaml', 'version: 1.2.0', 'version: 1.2'],
  ['orders.yaml', 'businessName: Orders', 'bussinessName: Orders'],
  ['orders.yaml', 'metric: rowCount', 'metric: rowCounts'],
  ['orders.yaml', 'unit: rows', 'units: rows'],
  ['orders.yaml', 'unique: true', 'unqiue: true'],
  ['orders.yaml', 'unique: true', 'unique: "yes"'],
  ['orders.yaml', 'logicalType: boolean', 'logicalType: bool'],
  ['orders.yaml', 'format: u16', 'format: u17'],
  ['orders.yaml', 'maxLength: 254', 'maxlength: 254'],
  ['orders.yaml', 'maxLength: 254', 'maxLength: -1'],
  ['orders.yaml', 'multipleOf: 0.01', 'multipleOf: 0'],
  ['orders.yaml', 'minimum: 1, maximum', 'minLength: 1, maximum'],
  ['orders.yaml', 'uniqueItems: true', 'uniqueItems: 1'],
  ['orders.yaml', 'property: deletableBy', 'propery: deletableBy'],
  ['orders.yaml', 'name: sku, logicalType', 'label: sku, logicalType'],
  ['orders.yaml', "minimum: '06:00:00'", 'minimum: 6'],
  ['full-metadata.yaml', 'type: postgres', 'type: postgress'],
  ['full-metadata.yaml', 'host: db.example.com', 'hots: db.example.com'],
  ['full-metadata.yaml', 'port: 5432', 'port: "5432"'],
  ['full-metadata.yaml', '    schema: public\n', ''],
  ['full-metadata.yaml', 'roles: [{ role: reader,', 'roles: [{ rol: reader,'],
  ['full-metadata.yaml', "channel: '#help', ", ''],
  ['full-metadata.yaml', 'priceUnit', 'priceunit'],
  ['full-metadata.yaml', 'username: ada', 'user: ada'],
  ['full-metadata.yaml', 'value: null', 'val: null'],
  ['full-metadata.yaml', 'to: others.id', 'too: others.id'],
  ['full-metadata.yaml', '{ to: [others.label]', '{ from: things.id, to: [others.label]'],
  ['full-metadata.yaml', 'query: SELECT 1, ', ''],
  ['full-metadata.yaml', 'engine: soda, ', ''],
  ['full-metadata.yaml', 'dimension: accuracy', 'dimension: accurate'],
  ['full-metadata.yaml', 'mustBeLessThan: 5', 'mustBeLessThan: 5, mustBe: 0'],
  ['full-metadata.yaml', 'mustBeLessThan: 5, ', ''],
  ['full-metadata.yaml', 'criticalDataElement: true', 'criticalDataElement: very'],
  ['full-metadata.yaml', 'examples: [A, B]', 'examples: A'],
  ['full-metadata.yaml', 'encryptedName: label_encrypted', 'items: { logicalType: string }'],
  ['v3.0.yaml', 'logicalTypeOptions: { minLength: 1 }', 'logicalTypeOptions: { minLengt: 1 }'],
  ['v3.0.yaml', 'id: older', 'ids: older'],
]

test('D4: what the standard refuses, the service refuses too, with file and line', { skip }, () => {
  for (const [file, from, to] of BREAKS) {
    const text = contractFile(file).replace(from, to)
    assert.notEqual(text, contractFile(file), `${file} has no ${JSON.stringify(from)}`)
    const change = `${file}: ${JSON.stringify(from)} to ${JSON.stringify(to)}`
    assert.notDeepEqual(
      odcsFaults(parseYamlFile(text, file).value),
      [],
      `${change} is no fault by the standard`,
    )
    assert.throws(
      () => parseContract(text, file),
      (error) => error instanceof ContractError && /^[\w.-]+:\d+: /.test(error.message),
      change,
    )
  }
})
