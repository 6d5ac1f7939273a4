import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TSchema } from 'typebox'
import { serveCommand } from '../../src/cli/serve-command.ts'
import { ERROR_TYPES } from '../../src/errors/service-error.ts'
import { EventBus } from '../../src/events/event-bus.ts'
import { createApp } from '../../src/http/app.ts'
import { STATUS } from '../../src/http/error-handler.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { CsrfAnswer } from '../../src/wire/csrf.ts'
import { EndFrame, ErrorFrame, StartFrame } from '../../src/wire/frames.ts'
import { FailureAnswer, MaterializeAnswer, MaterializeBody } from '../../src/wire/materialize.ts'
import { ProvenanceEntryAnswer, ProvenanceQuery } from '../../src/wire/provenance.ts'
import { QueryAnswer, QueryBody } from '../../src/wire/query.ts'
import {
  DeleteRecordsAnswer,
  DeleteRecordsQuery,
  ListRecordsQuery,
  RecordListAnswer,
  UpsertRecordsAnswer,
  UpsertRecordsBody,
} from '../../src/wire/records.ts'
import { TargetStatusAnswer } from '../../src/wire/status.ts'

const page = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, '..', '..', 'docs', 'reference', `${name}.md`), 'utf8')

/** The part of a page under a heading, down to the next heading of the same or a higher rank. */
function section(text: string, heading: string): string {
  const start = text.indexOf(`\n${heading}\n`)
  assert.notEqual(start, -1, `no heading ${heading}`)
  const rank = heading.indexOf(' ')
  const rest = text.slice(start + heading.length + 2)
  const end = rest.search(new RegExp(`^#{1,${rank}} `, 'm'))
  return end === -1 ? rest : rest.slice(0, end)
}

/** The names in the first column of a text's tables. */
function firstColumn(text: string): string[] {
  return [...text.matchAll(/^\| `([^`]+)`/gm)].map((match) => match[1] ?? '')
}

function members(...schemas: readonly TSchema[]): string[] {
  return schemas.flatMap((schema) => Object.keys((schema as { properties?: object }).properties ?? {}))
}

test('http.md lists exactly the routes that there are', async () => {
  const text = await page('http')
  const documented = [...text.matchAll(/^\| \[`([A-Z]+ [^`]+)`\]/gm)].map((match) => match[1] ?? '')
  const app = createApp({ events: new EventBus() } as Sheet)
  await app.ready()
  for (const route of documented) {
    const [method = '', url = ''] = route.split(' ')
    const found = app.hasRoute({ method, url: url.replace('{id}', ':id') })
    assert.ok(found, route)
  }
  // find-my-way prints each path once, with its methods.
  const printed = [...app.printRoutes({ commonPrefix: false }).matchAll(/([\w/:]+) \(([A-Z, ]+)\)/g)]
  const count = printed
    .flatMap((match) => (match[2] ?? '').split(', '))
    .filter((method) => method !== 'HEAD').length
  assert.equal(count, documented.length)
  await app.close()
})

test('http.md lists exactly the parameters and members of each route', async () => {
  const text = await page('http')
  const tables: Readonly<Record<string, string[]>> = {
    '## GET /api/csrf': members(CsrfAnswer),
    '## GET /api/records': members(ListRecordsQuery, RecordListAnswer),
    '## POST /api/records': members(UpsertRecordsBody, UpsertRecordsAnswer),
    '## DELETE /api/records': [
      ...members(DeleteRecordsQuery),
      'X-Svc-Actor',
      ...members(DeleteRecordsAnswer),
    ],
    '## POST /api/query': members(QueryBody, QueryAnswer),
    '## GET /api/status': members(TargetStatusAnswer),
    '## POST /api/materialize': members(MaterializeBody, MaterializeAnswer),
    '## GET /api/provenance': members(ProvenanceQuery, ProvenanceEntryAnswer),
  }
  for (const [heading, names] of Object.entries(tables)) {
    assert.deepEqual(firstColumn(section(text, heading)), names, heading)
  }
  for (const name of members(FailureAnswer)) {
    assert.ok(section(text, '## POST /api/materialize').includes(`\`${name}\``), name)
  }
})

test('events.md lists exactly the frames and their members', async () => {
  const text = await page('events')
  const frames = {
    'materialize.start': StartFrame,
    'materialize.end': EndFrame,
    'materialize.error': ErrorFrame,
  }
  assert.deepEqual(
    [...text.matchAll(/^### (.+)$/gm)].map((match) => match[1]),
    Object.keys(frames),
  )
  for (const [kind, schema] of Object.entries(frames)) {
    assert.deepEqual(firstColumn(section(text, `### ${kind}`)), members(schema), kind)
  }
})

test('errors.md lists exactly the error types, with their statuses', async () => {
  const text = await page('errors')
  const types = [...text.matchAll(/^\| `(\w+)` +\| (\d+) /gm)].map((match) => [match[1], Number(match[2])])
  assert.deepEqual(
    types,
    ERROR_TYPES.map((type) => [type, STATUS[type]]),
  )
})

test('options.md lists exactly the options of serve, with their defaults', async () => {
  const text = await page('options')
  const documented = [...text.matchAll(/^\| `(--[^`]+)` +\| (?:`([^`]+)`|none|) +\|/gm)].map((match) => [
    match[1],
    match[2],
  ])
  const options = serveCommand().options.map((option) => {
    const shown: unknown = option.defaultValueDescription ?? option.defaultValue
    return [option.flags, shown === undefined || shown === 'none' ? undefined : String(shown)]
  })
  assert.deepEqual(documented, [...options, ['--help', undefined]])
})
