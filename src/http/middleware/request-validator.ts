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

/** The schemas are constants of the code: validating them takes 40 ms of every start. */
const ajv = new Ajv({ meta: false, validateSchema: false })

/** The value of `request.query` until the route's schema is checked: the text after the `?`. */
export interface QueryText {
  readonly text: string
}

/**
 * Fastify's validator compiler: validates bodies and queries against the schemas of wire/. Unlike Fastify's own it converts and drops
 * nothing, and names an unknown member together with the known ones. Validators return the checked value or a ValidationError.
 */
export const compileShape: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  // Path parameters are not validated: an unknown id is a 404, which the operation reports.
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

/** Returns the validator of a schema, compiled at the first request: compiling those of all routes takes 60 ms of a start. */
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
        `query parameter "${name}" occurs more than once; send it once`,
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

/** Throws ValidationError for members that do not match the schema; `what` precedes the name of a member in the message. */
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
