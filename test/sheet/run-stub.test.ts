import assert from 'node:assert/strict'
import { test } from 'node:test'
import { materialize } from '../../src/sheet/materialize.ts'
import { getRecord } from '../../src/sheet/get-record.ts'
import { readProvenance } from '../../src/sheet/read-provenance.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { openTestSheet } from '../support/sheet-fixture.ts'

const REQUEST = { targets: null, recordIds: null, force: false, actor: 'agent:runner' }

test('D41, H6: a run over a stub takes prepared payloads by exact method and URL; others fail their cells', async (t) => {
  const sheet = await openTestSheet(t, {}, {
    transport: parseStub(
      JSON.stringify({
        responses: {
          'GET https://rates.example/EUR': { rate: 1 },
          'GET https://rates.example/USD/': { rate: 2 },
          'POST https://rates.example/XXX': { rate: 3 },
        },
      }),
    ),
  })
  assert.deepEqual(await materialize(sheet, REQUEST), {
    materialized: 1,
    skipped: 0,
    failures: [
      { recordId: 'b', field: 'rate', error: 'GET https://rates.example/USD -> no stub response', errorType: 'ServiceError' },
      { recordId: 'c', field: 'rate', error: 'GET https://rates.example/XXX -> no stub response', errorType: 'ServiceError' },
    ],
    totalCost: 0,
  })
  const entry = await readProvenance(sheet, { recordId: 'a', field: 'rate', history: false })
  const { at: _at, input_hash: _hash, ...rest } = entry as Record<string, unknown>
  assert.deepEqual(rest, {
    seq: 2,
    actor: 'agent:runner',
    source: 'http',
    record_id: 'a',
    field: 'rate',
    value: 1,
    previous: null,
    derivation: 'rate.yaml',
    cached: false,
    status: 200,
    duration_ms: 0,
    method: 'GET',
    url: 'https://rates.example/EUR',
  })
})

test('D41: the fallback answers what is not prepared, also when either is null', async (t) => {
  const stub = parseStub('{"responses": {"GET https://rates.example/EUR": null}, "fallback": {"rate": null}}')
  const sheet = await openTestSheet(t, {}, { transport: stub })
  const { materialized, failures } = await materialize(sheet, REQUEST)
  assert.equal(materialized, 2)
  assert.deepEqual(failures.map(({ error }) => error), ['GET https://rates.example/EUR -> no "rate" in the response'])
  assert.equal((JSON.parse(await getRecord(sheet, 'b', ['rate'])) as { rate: unknown }).rate, null)
})
