import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { ValidationError } from '../errors/service-error.ts'

/** As much of a schema as the messages look at. */
interface Shape {
  readonly type?: string
  readonly title?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
}

type Members = Readonly<Record<string, unknown>>

const ajv = new Ajv()

/** What Fastify keeps as `request.query` until the route's shape is checked: the text after the `?`. */
export interface QueryText {
  readonly text: string
}

/**
 * Fastify's validator compiler: holds bodies and queries to the schemas of wire/. Unlike Fastify's own it converts
 * nothing, drops nothing, and names what it does not know together with what it would have known. Validators answer
 * with the checked value, or with a ValidationError.
 */
export const compileShape: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  const shape = schema as Shape
  const validate = ajv.compile(shape)
  const read = httpPart === 'querystring' ? readQuery : readBody
  return (data: unknown) => {
    try {
      return { value: read(data, shape, validate) }
    } catch (error) {
      if (error instanceof ValidationError) return { error }
      throw error
    }
  }
}

const NO_PARAMETERS: Members = Object.freeze({})

function readQuery(data: unknown, shape: Shape, validate: ValidateFunction): Members {
  const { text } = data as QueryText
  if (text === '' && shape.required === undefined) return NO_PARAMETERS
  const parameters: Record<string, string> = {}
  for (const [name, value] of parseQuery(text)) {
    if (!knows(shape, name)) throw unknown('query parameter', name, shape)
    if (Object.hasOwn(parameters, name)) {
      throw new ValidationError(`query parameter "${name}" is given more than once; give it once`)
    }
    parameters[name] = value
  }
  if (!validate(parameters)) throw explain('query parameter ', parameters, shape, validate)
  return parameters
}

function parseQuery(text: string): [name: string, value: string][] {
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const cut = pair.indexOf('=')
      return cut === -1 ? [decode(pair), ''] : [decode(pair.slice(0, cut)), decode(pair.slice(cut + 1))]
    })
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new ValidationError(`the query has ${preview(text)}, which is not percent-encoded UTF-8`)
  }
}

function readBody(data: unknown, shape: Shape, validate: ValidateFunction): Members {
  const body = data ?? {}
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw new ValidationError(`the body is ${preview(body)}; a JSON object is expected`)
  }
  const members: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body)) {
    if (!knows(shape, name)) throw unknown('body member', name, shape)
    if (value !== null || shape.required?.includes(name)) members[name] = value
  }
  if (!validate(members)) throw explain('', members, shape, validate)
  return members
}

function knows(shape: Shape, name: string): boolean {
  return Object.hasOwn(shape.properties ?? {}, name)
}

function unknown(what: string, name: string, shape: Shape): ValidationError {
  const known = Object.keys(shape.properties ?? {})
  const hint = known.length === 0 ? 'none is known here' : `known here: ${known.join(', ')}`
  return new ValidationError(`unknown ${what} ${preview(name)}; ${hint}`)
}

function explain(prefix: string, data: Members, shape: Shape, validate: ValidateFunction): ValidationError {
  const error: ErrorObject | undefined = validate.errors?.[0]
  if (error === undefined) return new ValidationError('the request does not have the expected shape')
  if (error.keyword === 'required') {
    return new ValidationError(`${prefix}"${String(error.params['missingProperty'])}" is required`)
  }
  const path = error.instancePath.split('/').slice(1)
  let value: unknown = data
  let expected: Shape | undefined = shape
  for (const key of path) {
    value = (value as Members)[key]
    expected = expected?.properties?.[key] ?? expected?.items
  }
  const [name, ...indexes] = path
  const place = `${name}${indexes.map((index) => `[${index}]`).join('')}`
  return new ValidationError(`${prefix}"${place}" is ${preview(value)}; expected ${describe(expected)}`)
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
}

function describe(shape: Shape | undefined): string {
  if (shape?.title !== undefined) return shape.title
  if (shape?.anyOf !== undefined) return shape.anyOf.map(describe).join(' or ')
  return TYPE_NAMES[shape?.type ?? ''] ?? 'something else'
}

/** A value for a message: scalars as they are, cut when long; arrays and objects, however deep, by name only. */
function preview(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  // 1e999 in JSON is Infinity, which JSON.stringify would show as null.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value)
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
