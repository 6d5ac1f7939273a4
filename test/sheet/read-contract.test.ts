import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { readContract } from '../../src/sheet/schema/read-contract.ts'
import { openRunSheet, writeDerivations, type RunSheet } from '../support/run-fixture.ts'

async function properties(run: RunSheet): Promise<Record<string, JsonObject>> {
  const contract = await readContract(run.sheet)
  const [schema] = contract['schema'] as readonly JsonObject[]
  const list = schema?.['properties'] as readonly JsonObject[]
  return Object.fromEntries(list.map((property) => [String(property['name']), property]))
}

const lookupOf = (...targets: string[]): JsonObject => ({
  targets,
  inputs: ['a'],
  kind: 'http',
  url: 'http://127.0.0.1:9/{{ used }}',
  headers: { 'X-A': '{{ a }}' },
  response_schema: Object.fromEntries(targets.map((target) => [target, target])),
})

test('D7, D8: the contract has its defaults, its own keys, and the derivation of each derived property', async (t) => {
  const run = await openRunSheet(t, {
    properties: [
      "{name: a, logicalType: string, x-editable-by: ['user:*']}",
      'used: integer',
      '{name: b, logicalType: string, x-derived: true, x-inputs: [used, a], x-more: {kept: true}}',
      'c: string',
    ],
    records: [],
    derivations: () => ({ 'bc.yaml': lookupOf('c', 'b') }),
  })
  const contract = await readContract(run.sheet)
  assert.deepEqual(
    [contract['apiVersion'], contract['kind'], contract['id']],
    ['v3.1.0', 'DataContract', 'sample'],
  )
  const derived = { derivation: 'bc.yaml', kind: 'http', inputs: ['a', 'used'] }
  const before = await properties(run)
  assert.deepEqual(before['b']?.['derived'], derived)
  assert.deepEqual(before['c']?.['derived'], derived)
  assert.deepEqual(before['b']?.['x-more'], { kept: true })
  assert.deepEqual(before['a']?.['x-editable-by'], ['user:*'])
  for (const name of ['id', 'a', 'used']) assert.ok(!Object.hasOwn(before[name] ?? {}, 'derived'), name)
  assert.deepEqual(
    [before['id']?.['required'], before['id']?.['primaryKey'], before['a']?.['required']],
    [true, true, false],
  )

  // What the contract declares must agree with the derivations, whichever of the two is edited.
  await writeDerivations(run.directory, { 'bc.yaml': lookupOf('c') })
  await assert.rejects(readContract(run.sheet), {
    type: 'ContractError',
    message: /^contract\.yaml:\d+: "b" has x-derived: true, but no derivation targets it/,
  })
  await writeDerivations(run.directory, { 'bc.yaml': { ...lookupOf('c', 'b'), url: 'http://127.0.0.1:9/' } })
  await assert.rejects(readContract(run.sheet), {
    message: /^contract\.yaml:\d+: x-inputs of "b" lists used, a, but bc\.yaml uses a/,
  })
  await run.edit('contract.yaml', (text) => text.replace('[used, a]', '[a]'))
  assert.deepEqual((await properties(run))['b']?.['derived'], { ...derived, inputs: ['a'] })
})

test('D7: permissions follow each edit of contract and derivations', async (t) => {
  const run = await openRunSheet(t, {
    properties: ["{name: a, logicalType: string, x-editable-by: ['agent:*']}", 'used: integer', 'b: string'],
    records: [{ id: '1', a: 'x' }],
    derivations: () => ({ 'b.yaml': lookupOf('b') }),
  })
  const denied = (field: string) => ({
    type: 'PermissionDeniedError',
    message: new RegExp(`field "${field}": actor "user:ann" may not write it`),
  })
  await assert.rejects(run.write({ id: '1', a: 'y' }), denied('a'))
  await assert.rejects(run.write({ id: '1', b: 'y' }), denied('b'))
  await assert.rejects(run.write({ id: '2', b: 'y' }), denied('b'))
  // A record that was read can be sent back: values that stay need no permission.
  await run.write({ ...(await run.record('1')), used: 5 }, { id: '2', a: null, b: null })
  await run.edit('contract.yaml', (text) => text.replace('agent:*', 'user:a[mn]?'))
  await run.write({ id: '1', a: 'y' })
  await writeDerivations(run.directory, { 'b.yaml': lookupOf('used') })
  await assert.rejects(readContract(run.sheet), { message: /derivations form a cycle: used -> used/ })
  await writeDerivations(run.directory, { 'b.yaml': { ...lookupOf('used'), url: 'http://127.0.0.1:9/' } })
  await run.write({ id: '1', b: 'anybody may now' })
  await assert.rejects(run.write({ id: '1', used: 6 }), denied('used'))
})
