import type { TSchema } from 'typebox'
import { ErrorEnvelope } from '../../wire/service/error-envelope.ts'
import { Problem } from '../../wire/service/problem.ts'
import type { ResponseHeader, ResponseNotes } from './operation.ts'
import { RESPONSE_HEADERS, REQUEST_HEADERS } from './headers.ts'
import type { RouteOperation } from './operation-table.ts'
import type { JsonSchema } from '../../sheet/schema/read-record-schemas.ts'
import type { Components } from './schemas.ts'

const JSON_TYPE = 'application/json'

/** The meaning of each error status, for routes that do not describe their own. */
export const ERROR_STATUSES: Readonly<Record<number, string>> = {
  400: 'The request has the wrong shape, or the operation is not possible.',
  403: 'The actor, or the origin of the request, may not do this.',
  404: 'The item does not exist.',
  408: 'The request took too long to arrive.',
  409: 'It conflicts with a concurrent or later change.',
  412: 'The record or file does not have the version in `If-Match`, or exists with `If-None-Match: *`; nothing was changed.',
  413: 'The body is too large.',
  414: 'The URL is too long.',
  415: 'The body is not `application/json` in UTF-8, or is compressed.',
  431: 'The request line and headers are too large.',
  500: 'The contract or a derivation file is invalid, the store has a problem, the service has a bug, or it is stopping.',
  503: 'The service is stopping.',
}

/** Statuses that any request can receive. */
const COMMON = [400, 403, 408, 414, 431, 500]
/** Statuses that a request with a body can receive in addition. */
const OF_BODIES = [413, 415]

const CSRF = [{ csrfToken: [], csrfCookie: [] }]

/** Builds the Operation Object of a route (OpenAPI 3.1). */
export function operationObject(route: RouteOperation, components: Components): JsonSchema {
  const { id, tag, summary, description } = route.operation
  const parameters = parametersOf(route, components)
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: route.writes ? CSRF : [],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...bodyOf(route, components),
    responses: { ...successes(route, components), ...errors(route) },
  }
}

function parametersOf(
  { path, method, params, query, operation }: RouteOperation,
  components: Components,
): JsonSchema[] {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return [
    ...named.map((name) =>
      parameter(
        { name, in: 'path', required: true },
        params?.properties[name] ?? { type: 'string' },
        components,
      ),
    ),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) =>
      parameter(
        { name, in: 'query', required: query?.required?.includes(name) === true },
        schema,
        components,
      ),
    ),
    ...[
      ...(operation.headers ?? []),
      ...(method === 'get' && !isStream(operation.answers) ? ['If-None-Match' as const] : []),
    ]
      .filter((name) => name !== 'Accept')
      .map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
}

function parameter(
  place: { name: string; in: string; required: boolean },
  schema: unknown,
  components: Components,
): JsonSchema {
  const { description, contentMediaType, contentSchema, examples, ...rest } = components.use(schema)
  const [example] = (examples ?? []) as readonly unknown[]
  const notes = {
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { example }),
  }
  if (typeof contentMediaType === 'string')
    return { ...place, ...notes, content: { [contentMediaType]: { schema: contentSchema } } }
  const commas = rest['type'] === 'array' ? { style: 'form', explode: false } : {}
  const { allowEmptyValue, ...value } = rest
  const empty = allowEmptyValue === true ? { allowEmptyValue } : {}
  return { ...place, ...notes, ...commas, ...empty, schema: value }
}

function bodyOf({ body, operation }: RouteOperation, components: Components): JsonSchema {
  const { bodyTypes } = operation
  if (bodyTypes !== undefined) {
    const file = { schema: { type: 'string', format: 'binary' } }
    return {
      requestBody: { required: true, content: Object.fromEntries(bodyTypes.map((type) => [type, file])) },
    }
  }
  if (body === null) return {}
  const { required, anyOf } = body as {
    readonly required?: readonly string[]
    readonly anyOf?: readonly unknown[]
  }
  const content = { [JSON_TYPE]: { schema: { ...components.useBody(body), ...operation.bodyRules } } }
  // A request without a body counts as an empty object (D36).
  return {
    requestBody: {
      required: anyOf !== undefined || (required !== undefined && required.length > 0),
      content,
    },
  }
}

function successes(route: RouteOperation, components: Components): Readonly<Record<string, JsonSchema>> {
  const { answers = {} } = route.operation
  const statuses = new Set([...Object.keys(route.response), ...Object.keys(answers)])
  const responses: Record<string, JsonSchema> = {}
  for (const status of statuses) {
    responses[status] = success(route, { status, notes: answers[Number(status)] ?? {}, components })
  }
  if (route.method === 'get' && !isStream(answers))
    responses['304'] = { $ref: '#/components/responses/NotModified' }
  return responses
}

function success(
  { method, writes, response }: RouteOperation,
  { status, notes, components }: { status: string; notes: ResponseNotes; components: Components },
): JsonSchema {
  const json: Readonly<Record<string, TSchema>> =
    response[status] === undefined ? {} : { [JSON_TYPE]: response[status] }
  const content = Object.entries({ ...json, ...notes.content })
  const isRead = method === 'get' && content.every(([type]) => type !== 'text/event-stream')
  const names: (ResponseHeader | 'Set-Cookie')[] = [
    ...new Set([...(notes.headers ?? []), ...(isRead ? (['ETag'] as const) : [])]),
    ...(writes ? [] : (['Set-Cookie'] as const)),
  ]
  return {
    description: notes.description ?? 'Done.',
    ...(names.length === 0
      ? {}
      : {
          headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
        }),
    content: Object.fromEntries(content.map(([type, schema]) => [type, { schema: components.use(schema) }])),
  }
}

function isStream(answers: RouteOperation['operation']['answers']): boolean {
  return Object.values(answers ?? {}).some(({ content }) => content?.['text/event-stream'] !== undefined)
}

function errors({ operation, body }: RouteOperation): Readonly<Record<string, JsonSchema>> {
  const ofBody = operation.bodyTypes !== undefined ? [413] : body === null ? [] : OF_BODIES
  const statuses = [...COMMON, ...ofBody, ...(operation.errors ?? [])]
  return Object.fromEntries(
    statuses
      .toSorted((a, b) => a - b)
      .map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
  )
}

/** Parameters, headers and responses that operations share; `paths` are the operations. */
export function sharedComponents(components: Components, paths: object): JsonSchema {
  const text = JSON.stringify(paths)
  const isUsed = ([name]: readonly [name: string, notes: unknown]): boolean =>
    text.includes(`/${name}"`) || name === 'ETag' || name === 'Retry-After'
  const content = {
    [JSON_TYPE]: { schema: components.use(ErrorEnvelope) },
    'application/problem+json': { schema: components.use(Problem) },
  }
  const errorResponses = Object.entries(ERROR_STATUSES).map(([status, description]) => {
    const retry =
      status === '503' ? { headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } } : {}
    return [`Error${status}`, { description, ...retry, content }]
  })
  return {
    parameters: Object.fromEntries(
      Object.entries(REQUEST_HEADERS)
        .filter(isUsed)
        .map(([name, { description, example, schema }]) => [
          name,
          {
            name,
            in: 'header',
            required: false,
            description,
            schema: { type: 'string', ...schema },
            example,
          },
        ]),
    ),
    headers: Object.fromEntries(
      Object.entries(RESPONSE_HEADERS)
        .filter(isUsed)
        .map(([name, { description, example }]) => [
          name,
          { description, schema: { type: 'string' }, example },
        ]),
    ),
    responses: {
      NotModified: {
        description: 'The client has the response already.',
        headers: { ETag: { $ref: '#/components/headers/ETag' } },
      },
      ...Object.fromEntries(errorResponses),
    },
  }
}
