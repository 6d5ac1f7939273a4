import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '../json/json.ts'
import { parseContract } from '../odcs/parse-contract.ts'
import { writeDocument } from './write-document.ts'

const FIELDS = Array.from(
  { length: 600 },
  (_, index) =>
    `      - name: f${index} # note ${index}\n        logicalType: string\n        description: Old text\n`,
)
const TEXT = `apiVersion: v3.1.0
kind: DataContract
id: books
version: 1.0.0
schema:
  - name: books
    properties:
      - {name: id, logicalType: string, primaryKey: true}
${FIELDS.join('')}`

test('a document that changes every field of a long file leaves all else as it is', () => {
  const contract = parseContract(TEXT)
  const document = JSON.parse(JSON.stringify(contract.document).replaceAll('Old text', 'New')) as JsonValue
  assert.equal(writeDocument(contract, document, new Map()), TEXT.replaceAll('Old text', 'New'))
})

test('a document with very many other differences is written, without the comments of what differs', () => {
  const contract = parseContract(TEXT)
  const bare = JSON.parse(
    JSON.stringify(contract.document).replaceAll('"description":"Old text",', ''),
  ) as JsonValue
  const written = writeDocument(contract, bare, new Map())
  assert.ok(written.startsWith(TEXT.slice(0, TEXT.indexOf('schema:'))))
  assert.equal(parseContract(written).fields.length, 601)
})

test('fields that are added to a long file beside each other leave all else as it is', () => {
  const contract = parseContract(TEXT)
  const added = Array.from({ length: 300 }, (_, index) => ({ name: `g${index}`, logicalType: 'string' }))
  const [entry] = contract.document['schema'] as readonly { readonly properties: readonly JsonValue[] }[]
  const schema = [{ ...entry, properties: [...(entry?.properties ?? []), ...added] }] as JsonValue
  const lines = added.map(({ name }) => `      - name: ${name}\n        logicalType: string\n`)
  assert.equal(
    writeDocument(contract, { ...contract.document, schema }, new Map()),
    `${TEXT}${lines.join('')}`,
  )
})
