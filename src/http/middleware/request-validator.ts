import { Ajv, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { ValidationError } from '../../errors/service-error.ts'
import {
  formWith,
  knowsMember,
  preview,
  shapeFault,
  unknownMember,
  type Shape,
} from '../../wire/schema/shape-errors.ts'

type Members = Readonly<Record<string, unknown>>

/** The shapes are ours: to hold them to the schema of schemas takes 40 ms of every start. */
const ajv = new Ajv({ meta: false, validateSchema: false })

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
  // Texts in a path are what they are: what there is none of is a 404, which the use case tells in its own words.
  if (httpPart === 'params') return () => true
  const shape = schema as Shape
  const read = httpPart === 'querystring' ? readQuery : readBody
  return (data: unknown) => {
    try {
      return { value: read(data, shape) }
    } catch (error) {
      if (error instanceof ValidationError) return { error }
      throw error
    }
  }
}

const VALIDATORS = new WeakMap<Shape, ValidateFunction>()

/** The validator of a shape, made with the first request: to compile those of all routes takes 60 ms of a start. */
function validatorOf(shape: Shape): ValidateFunction {
  let validate = VALIDATORS.get(shape)
  if (validate === undefined) {
    validate = ajv.compile(shape)
    VALIDATORS.set(shape, validate)
  }
  return validate
}

const NO_PARAMETERS: Members = Object.freeze({})

function readQuery(data: unknown, shape: Shape): Members {
  const { text } = data as QueryText
  if (text === '' && shape.required === undefined) return NO_PARAMETERS
  const parameters: Record<string, string> = {}
  for (const [name, value] of parseQuery(text)) {
    if (!knowsMember(shape, name))
      throw new ValidationError(unknownMember('query parameter', name, shape), 'unknown_parameter')
    if (Object.hasOwn(parameters, name)) {
      throw new ValidationError(
        `query parameter "${name}" is given more than once; give it once`,
        'repeated_parameter',
      )
    }
    parameters[name] = value
  }
  check('query parameter ', parameters, shape)
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

function readBody(data: unknown, shape: Shape): Members {
  const body = data ?? {}
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw new ValidationError(`the body is ${preview(body)}; a JSON object is expected`)
  }
  const members: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body)) {
    if (!knowsMember(shape, name))
      throw new ValidationError(unknownMember('body member', name, shape), 'unknown_parameter')
    if (value !== null || shape.required?.includes(name)) members[name] = value
  }
  const form = formWith(shape, members)
  if (form === undefined) throw new ValidationError(`the body must have ${shape.title ?? 'other members'}`)
  check('', members, form)
  return members
}

/** Throws ValidationError for members that do not have the shape; `what` stands before the name of a member. */
function check(what: string, members: Members, shape: Shape): void {
  const validate = validatorOf(shape)
  if (validate(members)) return
  const [fault] = validate.errors ?? []
  throw new ValidationError(
    fault === undefined
      ? 'the request does not have the expected shape'
      : `${what}${shapeFault(members, shape, fault)}`,
  )
}
