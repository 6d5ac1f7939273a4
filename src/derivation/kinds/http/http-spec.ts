import { isJsonObject } from '../../../contract/json/json.ts'
import type { JsonObject, JsonValue } from '../../../contract/json/json.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import type { YamlEdit } from '../../../contract/yaml/edit/yaml-edit.ts'
import type { ParseContext, ParsedSpec, RenameContext } from '../../definition/derivation-kind.ts'
import { COMMON_KEYS } from '../../definition/common-keys.ts'
import { didYouMean } from '../../definition/did-you-mean.ts'
import { renameInKeys, renameInTemplates } from '../../definition/rename-edits.ts'
import { fieldsOf } from '../../definition/template.ts'
import type { TemplateScope } from '../../definition/template.ts'
import { bodyFields, parseBodyTemplate } from './request/body-template.ts'
import type { BodyTemplate } from './request/body-template.ts'
import { parseHeaders } from '../../transport/headers/header-template.ts'
import type { HeaderTemplate } from '../../transport/headers/header-template.ts'
import { parseResponsePath } from './response/response-path.ts'
import type { ResponsePath } from './response/response-path.ts'
import { parseStatusValues } from './response/status-values.ts'
import type { StatusValues } from './response/status-values.ts'
import { HTTP_METHODS } from '../../transport/call/transport.ts'
import type { HttpMethod } from '../../transport/call/transport.ts'
import { parseUrlTemplate } from './request/url-template.ts'
import type { UrlTemplate } from './request/url-template.ts'

/** A parsed derivation file of kind `http`. */
export interface HttpSpec {
  /** The file as messages name it. */
  readonly file: string
  readonly method: HttpMethod
  readonly url: UrlTemplate
  readonly headers: readonly HeaderTemplate[]
  /** Null if no body is sent: without `body_template`, and always with GET (D21). */
  readonly body: BodyTemplate | null
  /** The path of each target in the response. */
  readonly paths: readonly { readonly field: string; readonly path: ResponsePath }[]
  /** The values for responses with some statuses, for all targets. */
  readonly onStatus: StatusValues
}

/** The keys specific to the kind (`docs/reference/derivations.md`). */
const HTTP_KEYS = [
  'method',
  'url',
  'headers',
  'body_template',
  'response_path',
  'response_schema',
  'on_status',
  'output',
] as const

type HttpKey = (typeof HTTP_KEYS)[number]

/** Reads the keys of a derivation file of kind http. Throws ContractError through the context (D20, D21). */
export function parseHttpSpec(
  file: JsonObject,
  targets: readonly string[],
  context: ParseContext,
): ParsedSpec<HttpSpec> {
  const known: readonly string[] = HTTP_KEYS
  for (const key of Object.keys(file)) {
    if (!known.includes(key)) {
      const hint = didYouMean(key, [...known, ...COMMON_KEYS])
      context.fail([key], `unknown key "${key}"; kind http has ${known.join(', ')}${hint}`)
    }
  }
  const get = (key: HttpKey): JsonValue | undefined => (Object.hasOwn(file, key) ? file[key] : undefined)
  const scope = (key: HttpKey): TemplateScope => ({
    contract: context.contract,
    fail: (message) => context.fail([key], message),
  })

  const method = parseMethod(get('method') ?? 'GET', context)
  const url = parseUrl(get('url'), scope('url'))
  const headers = parseHeaders(get('headers') ?? {}, context)
  const bodyTemplate = get('body_template')
  const body = bodyTemplate === undefined ? null : parseBodyTemplate(bodyTemplate, scope('body_template'))
  const paths = parsePaths({ path: get('response_path'), schema: get('response_schema') }, targets, context)
  const onStatus = parseStatusValues(get('on_status') ?? {}, targets, context)
  const output = get('output') ?? 'text'
  if (output !== 'text')
    context.fail(['output'], `output is ${showValue(output)}; for http it is always text`)

  const sentBody = method === 'GET' ? null : body
  const spec: HttpSpec = { file: context.file, method, url, headers, body: sentBody, paths, onStatus }
  // A body can contain a null, but a URL or a header cannot (D21, D22).
  const requiredFields = new Set([
    ...fieldsOf(url.parts),
    ...headers.flatMap((header) => fieldsOf(header.parts)),
  ])
  const usedFields = requiredFields.union(new Set(sentBody === null ? [] : bodyFields(sentBody)))
  return {
    spec,
    usedFields: [...usedFields],
    requiredFields: [...requiredFields],
    resources: [{ type: 'host', name: url.host }],
  }
}

/** Returns the edits of a file of kind http for another name of a field. */
export function renameInHttp(file: JsonObject, rename: RenameContext): readonly YamlEdit[] {
  return [
    ...['url', 'headers', 'body_template'].flatMap((key) => renameInTemplates(file[key], [key], rename)),
    ...renameInKeys(file, 'response_schema', rename),
  ]
}

function parseMethod(value: JsonValue, context: ParseContext): HttpMethod {
  const method = HTTP_METHODS.find((candidate) => candidate === value)
  return (
    method ??
    context.fail(['method'], `method is ${showValue(value)}; it is one of ${HTTP_METHODS.join(', ')}`)
  )
}

function parseUrl(value: JsonValue | undefined, scope: TemplateScope): UrlTemplate {
  if (value === undefined) return scope.fail('url is missing; kind http calls a URL')
  if (typeof value !== 'string') return scope.fail(`url is ${showValue(value)}, which is no text`)
  return parseUrlTemplate(value, scope)
}

function parsePaths(
  { path, schema }: { path: JsonValue | undefined; schema: JsonValue | undefined },
  targets: readonly string[],
  context: ParseContext,
): HttpSpec['paths'] {
  if (path !== undefined && schema !== undefined) {
    return context.fail(['response_schema'], 'response_path and response_schema exclude each other; keep one')
  }
  if (schema !== undefined) return parseSchema(schema, targets, context)
  if (path === undefined) {
    return context.fail([], 'one of response_path (one target) and response_schema (several) has to be there')
  }
  const [target, ...others] = targets
  if (target === undefined || others.length > 0) {
    const message = `response_path fills one target, and there are ${targets.length}; use response_schema`
    return context.fail(['response_path'], message)
  }
  return [{ field: target, path: parsePath(path, ['response_path'], context) }]
}

function parseSchema(
  schema: JsonValue,
  targets: readonly string[],
  context: ParseContext,
): HttpSpec['paths'] {
  if (!isJsonObject(schema)) {
    return context.fail(['response_schema'], 'response_schema is not a map of targets to paths')
  }
  for (const key of Object.keys(schema)) {
    if (!targets.includes(key)) {
      const hint = didYouMean(key, targets)
      context.fail(['response_schema', key], `response_schema has "${key}", which is no target${hint}`)
    }
  }
  return targets.map((field) => {
    const path = Object.hasOwn(schema, field) ? schema[field] : undefined
    if (path === undefined)
      return context.fail(['response_schema'], `response_schema lacks the target "${field}"`)
    return { field, path: parsePath(path, ['response_schema', field], context) }
  })
}

function parsePath(value: JsonValue, at: readonly string[], context: ParseContext): ResponsePath {
  if (typeof value !== 'string') {
    return context.fail(at, `a path is text, not ${showValue(value)}; put it in quotes`)
  }
  if (value.includes('{{')) return context.fail(at, `the path "${value}" has a placeholder; paths take none`)
  return (
    parseResponsePath(value) ??
    context.fail(at, `the path "${value}" is empty or has an empty part; write a.b.0`)
  )
}
