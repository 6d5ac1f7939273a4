import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { createApp } from '../../src/http/app.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { listRoutes } from '../support/app-routes.ts'
import { exampleSheet } from '../support/example.ts'
import { startApp } from '../support/http-fixture.ts'
import { openOnEngine } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { editSheet, writeSheet } from '../support/sheet-fixture.ts'

interface Operation {
  readonly operationId: string
  readonly security: readonly object[]
  readonly responses: Readonly<Record<string, object>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<
      Record<
        string,
        { readonly properties: Readonly<Record<string, unknown>>; readonly examples?: readonly unknown[] }
      >
    >
  }
}

async function exampleDocument(t: Parameters<typeof startApp>[0]): Promise<string> {
  const example = await exampleSheet()
  onEnd(t, () => example.cleanup())
  const sheet = await openSheet(example.path)
  onEnd(t, () => sheet.close())
  const app = createApp(sheet)
  onEnd(t, () => app.close())
  const response = await app.inject({ url: '/openapi.json' })
  assert.equal(response.statusCode, 200)
  return response.body
}

test('a linter with its strictest rules finds nothing in the OpenAPI document', async (t) => {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const small = (await (await startApp(t)).app.inject({ url: '/openapi.json' })).body
  for (const source of [await exampleDocument(t), small]) {
    const found = await lintFromString({ source, config, absoluteRef: '/openapi.json' })
    // It does not see that forms of a body exclude each other where a member of one is null, as good as absent (D36), in another.
    const problems = found.filter(({ location: [place] }) => place?.pointer?.endsWith('Body/oneOf') !== true)
    assert.deepEqual(
      problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`),
      [],
    )
  }
})

test('the document has exactly the routes of the interface', async (t) => {
  const { app } = await startApp(t)
  const routes = listRoutes(app)
  const { paths } = (await app.inject({ url: '/openapi.json' })).json<Document>()
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const expected = routes
    .filter(({ method, path }) => method !== 'HEAD' && /^\/(?:api\/|events$|openapi\.json$)/.test(path))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  assert.deepEqual(documented.toSorted(), expected.toSorted())
  assert.ok(documented.length >= 24)
})

test('exactly the operations that require the CSRF token are marked', async (t) => {
  const { app } = await startApp(t)
  const { paths } = (await app.inject({ url: '/openapi.json' })).json<Document>()
  for (const [path, methods] of Object.entries(paths)) {
    if (path.endsWith('/events')) continue
    for (const [method, { security, operationId }] of Object.entries(methods)) {
      const url = path.replaceAll(/\{\w+\}/g, 'a')
      const { statusCode } = await app.inject({ method: method as 'GET', url })
      assert.equal(security.length > 0, statusCode === 403, operationId)
    }
  }
})

test('the document has the fields of the sheet and its examples, with the constraints of the contract', async (t) => {
  const { components } = JSON.parse(await exampleDocument(t)) as Document
  const { Record: record, RecordInput: input } = components.schemas
  assert.deepEqual(record?.properties['id'], {
    type: 'string',
    description: 'ISO 3166-1 alpha-2 code.',
    examples: ['CH', 'JP'],
  })
  const id = input?.properties['id'] as { pattern?: unknown; maxLength?: unknown } | undefined
  assert.deepEqual([id?.pattern, id?.maxLength], ['^[A-Z]{2}$', 512])
  assert.deepEqual(input?.properties['area'], {
    type: ['number', 'null'],
    exclusiveMinimum: 0,
    maximum: 20_000_000,
    description: 'Area in square kilometres, with inland waters; null where the source has none.',
  })
  assert.deepEqual((record?.properties['region'] as { enum: unknown } | undefined)?.enum, [
    'Africa',
    'Americas',
    'Antarctic',
    'Asia',
    'Europe',
    'Oceania',
  ])
  assert.deepEqual(Object.keys(record?.examples?.[0] ?? {}).slice(0, 1), ['id'])
})

test('the document has the SQL dialect, changes with the contract, and stays while the contract is invalid', async (t) => {
  const directory = await writeSheet(t)
  const sheet = await openOnEngine(directory)
  onEnd(t, () => sheet.close())
  const app = createApp(sheet)
  onEnd(t, () => app.close())
  const read = async () => {
    const response = await app.inject({ url: '/openapi.json' })
    assert.equal(response.statusCode, 200)
    const { components, paths } = response.json<Document>()
    return {
      etag: response.headers.etag,
      fields: Object.keys(components.schemas['Record']?.properties ?? {}),
      paths,
    }
  }
  const document = (await app.inject({ url: '/openapi.json' })).body
  assert.match(document, /SQL, in .{1,50}, is that of SQLite;/)
  assert.match(document, /A boolean SQL expression \(SQLite\) over the fields/)
  assert.doesNotMatch(document, /PostgreSQL|\{dialect\}/)
  const before = await read()
  assert.deepEqual(before.fields, ['id', 'title', 'price', 'currency', 'owner_note', 'rate'])
  assert.equal((await read()).etag, before.etag)
  await editSheet(directory, 'contract.yaml', (text) =>
    text.replace('{name: price, logicalType: number}', '$&\n      - {name: weight, logicalType: number}'),
  )
  const after = await read()
  assert.ok(after.fields.includes('weight'))
  assert.notEqual(after.etag, before.etag)
  await editSheet(directory, 'contract.yaml', 'nonsense: [')
  const broken = await read()
  assert.deepEqual(broken.fields, [])
  assert.deepEqual(Object.keys(broken.paths), Object.keys(before.paths))
  assert.equal((await app.inject({ url: '/docs' })).statusCode, 200)
})
