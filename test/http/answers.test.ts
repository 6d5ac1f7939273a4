import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import type { InjectOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { ContractAnswer } from '../../src/wire/definition/contract.ts'
import { CsrfAnswer } from '../../src/wire/service/csrf.ts'
import { ErrorEnvelope } from '../../src/wire/service/error-envelope.ts'
import { toWireFrame, WireFrame } from '../../src/wire/runs/materialize-frames.ts'
import { MaterializeAnswer } from '../../src/wire/runs/materialize.ts'
import { ProvenanceAnswer } from '../../src/wire/records/provenance.ts'
import { QueryAnswer } from '../../src/wire/records/query.ts'
import {
  DeleteRecordsAnswer,
  RecordAnswer,
  RecordListAnswer,
  UpsertRecordsAnswer,
} from '../../src/wire/records/records.ts'
import { CellExplanationAnswer, StatusAnswer } from '../../src/wire/runs/status.ts'
import { CSRF, startApp } from '../support/http-fixture.ts'

const actor = 'agent:test'

/** A request of each route, in an order in which each finds something, and the schema of its answer. */
const ANSWERS: readonly [request: InjectOptions, schema: TSchema][] = [
  [{ url: '/api/csrf' }, CsrfAnswer],
  [{ url: '/api/contract' }, ContractAnswer],
  [{ method: 'POST', url: '/api/materialize', headers: CSRF, payload: { actor } }, MaterializeAnswer],
  [
    { method: 'POST', url: '/api/materialize', headers: CSRF, payload: { actor, targets: ['x'] } },
    ErrorEnvelope,
  ],
  [{ url: '/api/records?limit=2' }, RecordListAnswer],
  [{ url: '/api/records' }, RecordListAnswer],
  [{ url: '/api/records/a' }, RecordAnswer],
  [{ url: '/api/records/nobody' }, ErrorEnvelope],
  [{ url: '/api/status' }, StatusAnswer],
  [{ url: '/api/status/rate/a' }, CellExplanationAnswer],
  [{ url: '/api/status/rate/c' }, CellExplanationAnswer],
  [{ url: '/api/provenance?record_id=a&field=rate' }, ProvenanceAnswer],
  [{ url: '/api/provenance?record_id=a&field=title&history=true' }, ProvenanceAnswer],
  [{ url: '/api/provenance?record_id=c&field=rate' }, ProvenanceAnswer],
  [{ method: 'POST', url: '/api/query', payload: { sql: 'SELECT * FROM records' } }, QueryAnswer],
  [
    { method: 'POST', url: '/api/records', headers: CSRF, payload: { actor, records: [] } },
    UpsertRecordsAnswer,
  ],
  [
    { method: 'DELETE', url: '/api/records?ids=a', headers: { ...CSRF, 'x-svc-actor': actor } },
    DeleteRecordsAnswer,
  ],
]

test('every response and every frame matches its schema in wire/, without further members', async (t) => {
  const { app, takeFrames } = await startApp(t)
  for (const [request, schema] of ANSWERS) {
    const response = await app.inject(request)
    assertFits(response.json(), schema, `${request.method ?? 'GET'} ${String(request.url)}`)
  }
  const frames = await takeFrames()
  assert.equal(frames.length, 4)
  for (const frame of frames) assertFits(toWireFrame(frame), WireFrame, frame.kind)
})

function assertFits(value: unknown, schema: TSchema, about: string): void {
  const validate = new Ajv().compile(closed(schema))
  assert.ok(validate(value), `${about}: ${JSON.stringify(validate.errors)} ${JSON.stringify(value)}`)
}

/** The schema with every object of named members closed to others. */
function closed(schema: unknown): object {
  if (Array.isArray(schema)) return schema.map(closed)
  const entries = Object.entries(schema as object).map(([key, value]: [string, unknown]) => [
    key,
    typeof value === 'object' && value !== null && key !== 'required' ? closed(value) : value,
  ])
  const copy = Object.fromEntries(entries) as Record<string, unknown>
  return 'properties' in copy && 'required' in copy ? { ...copy, additionalProperties: false } : copy
}
