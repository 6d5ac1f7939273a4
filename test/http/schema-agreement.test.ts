import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { contractText } from '../support/contract-with.ts'
import { EdgeRequests, type EdgeRequest, type RequestDocument } from '../support/edge-requests.ts'
import { CSRF, startApp } from '../support/http-fixture.ts'
import { OFFERS } from '../support/sheet-fixture.ts'

/** A sheet with fields of all types. */
const FILES = {
  ...OFFERS,
  contract: contractText([
    '{name: title, logicalType: string, required: true, logicalTypeOptions: {maxLength: 40}}',
    '{name: price, logicalType: number, logicalTypeOptions: {exclusiveMinimum: 0}}',
    '{name: currency, logicalType: string}',
    "{name: owner_note, logicalType: string, customProperties: [{property: editableBy, value: ['agent:owner']}]}",
    '{name: rate, logicalType: number}',
    '{name: code, logicalType: string, logicalTypeOptions: {pattern: "^[A-Z]{2}$"}}',
    '{name: size, logicalType: integer, logicalTypeOptions: {minimum: 0, maximum: 100}}',
    '{name: many, logicalType: integer}',
    '{name: sold, logicalType: boolean}',
    '{name: day, logicalType: date}',
    '{name: at, logicalType: timestamp}',
    '{name: hour, logicalType: time}',
    '{name: tags, logicalType: array, items: {logicalType: string}, logicalTypeOptions: {maxItems: 3, uniqueItems: true}}',
    '{name: box, logicalType: object, properties: [{name: a, logicalType: integer, required: true}]}',
    '{name: colour, logicalType: string, quality: [{metric: invalidValues, arguments: {validValues: [red, green]}, mustBe: 0}]}',
  ]).replace('primaryKey: true', '$&, logicalTypeOptions: {pattern: "^[a-z,]*$", maxLength: 20}'),
}

/**
 * What no schema of a request can say, by operation: messages of requests that the document allows and the service
 * refuses. They depend on the records, on SQL, on another parameter, or on the type of a field.
 */
const REFUSED: Readonly<Record<string, RegExp>> = {
  listRecords:
    /^(?:cursor was not issued|as_of .* (?:has not happened yet|is in the future)|\w+ and \w+ cannot be combined|a condition on the .* cannot be combined|changed requires as_of)/,
  locateRecord:
    /^(?:as_of .* (?:has not happened yet|is in the future)|\w+ and \w+ cannot be combined|a condition on the .* cannot be combined)/,
  getSqlDialect: /cannot be translated into SQL/,
  summarizeRecords: /^(?:totals need group|split needs group|cannot group by|cannot add up)/,
  getRecord: /^as_of .* (?:has not happened yet|is in the future)/,
  groupFailures: /^run cannot be combined/,
  listRuns: /^cursor was not issued/,
  listRunFailures: /^cursor was not issued/,
  listProposals: /^cursor was not issued/,
  listReviews: /^cursor was not issued/,
  listDeletedRecords: /^cursor was not issued/,
  getHistory: /^as_of .* (?:has not happened yet|is in the future)/,
  getProof: /^give either seq/,
  getProvenance:
    /^(?:cursor was not issued|as_of .* (?:has not happened yet|is in the future)|limit and cursor require history=true|query parameter "field" is required; only with history=true)/,
  createView: /U\+0000/,
  createChart: /U\+0000|^(?:unknown fields? "|cannot group by|cannot add up)/,
  changeChart: /U\+0000|^(?:unknown fields? "|cannot group by|cannot add up)/,
  changeView: /U\+0000/,
  exportRecords: /^(?:raw applies to csv only|namespace applies to openlineage only|\w+ does not apply to)/,
  materialize: /^a call failed at/,
  propose: /^(?:renamed names|there is nothing to propose|contract\.yaml|derivations\/|send either text)/,
  eraseValues: /must have a value|^the id of a record cannot be erased/,
  revert: /it never changes/,
  cancelRun: /is not running any more/,
  listDefinitionChanges: /^cursor was not issued/,
  previewDerivation: /^(?:derivations\/|contract|the file name)/,
  putDerivation: /^derivations\//,
  putContract: /^(?:renamed names|contract\.yaml|derivations\/|send either text)/,
  addProperty: /^(?:contract\.yaml|derivations\/|the contract has a field)/,
  changeProperty: /^(?:contract\.yaml|derivations\/|the contract has a field)/,
  removeProperty: /^(?:contract\.yaml|derivations\/)/,
}

/** Returns the URL of a change of the contract, or of an erasure, for a dry run: the other requests are those of the first document. */
function asDryRun(url: string): string {
  if (!url.startsWith('/api/contract') && !url.startsWith('/api/erase')) return url
  const plain = url.replaceAll(/(?<=[?&])dry_run=(?:false)?(?:&|$)/g, '')
  return plain.includes('dry_run') ? plain : `${plain}${plain.includes('?') ? '&' : '?'}dry_run=true`
}

const SQL_OPERATIONS = new Set([
  'listRecords',
  'locateRecord',
  'summarizeRecords',
  'exportRecords',
  'groupFailures',
  'runQuery',
])

test('the service accepts what the OpenAPI document allows, and refuses what it forbids', async (t) => {
  const { app } = await startApp(t, { files: FILES, sheet: { defaultActor: 'tester' } })
  const send = (method: NonNullable<InjectOptions['method']>, url: string, body?: string) =>
    app.inject({
      method,
      url: method === 'GET' ? url : asDryRun(url),
      headers: { ...CSRF, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { payload: body }),
    })
  await send('POST', '/api/materialize', '{}')
  await send('POST', '/api/proposals', '{"records": [{"id": "z", "title": "Zucchini"}]}')
  const document = (await send('GET', '/openapi.json')).json<RequestDocument>()
  const ids = {
    '/api/runs/{id}': '1',
    '/api/runs/{id}/failures': '1',
    '/api/derivations/{file}': 'x.yaml',
    '/api/contract/properties/{name}': 'many',
  }
  const wrong: string[] = []
  let count = 0
  for (const requests of new EdgeRequests(document, ids).all()) {
    for (const request of requests) {
      if (request.isStream && request.isAllowed) continue
      count += 1
      const { statusCode, body } = await send(request.method, request.url, request.body)
      if (agrees(request, statusCode, body)) continue
      const { method, url, isAllowed } = request
      wrong.push(
        `${method} ${url} ${request.body?.slice(0, 300) ?? ''}: the document ${isAllowed ? 'allows' : 'forbids'} it, the answer is ${statusCode} ${body.slice(0, 300)}`,
      )
    }
  }
  assert.equal(wrong.join('\n'), '')
  assert.ok(count > 1000, String(count))
})

function agrees({ operationId, isAllowed }: EdgeRequest, status: number, body: string): boolean {
  // An unknown name in a path is a 404; and permission comes before the contract (D36).
  if (!isAllowed) return status === 400 || status === 404 || (status === 403 && /may not write it/.test(body))
  if (status !== 400) return status < 500
  const { error } = JSON.parse(body) as { error: { type: string; message: string } }
  if (error.type === 'QueryError' && SQL_OPERATIONS.has(operationId)) return true
  return REFUSED[operationId]?.test(error.message) === true
}
