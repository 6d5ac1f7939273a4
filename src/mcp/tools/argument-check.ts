import { Ajv, type ValidateFunction } from 'ajv'
import type { Static, TObject } from 'typebox'
import { nestsTooDeep } from '../../sheet/json-body.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { knowsMember, shapeFault, unknownMember, type Shape } from '../../wire/schema/shape-errors.ts'

const ajv = new Ajv()
const COMPILED = new WeakMap<TObject, ValidateFunction>()

/**
 * Validates the arguments of a tool against its schema. A null member counts as absent unless it is required (D36), since agents send such
 * members. Throws ValidationError with the invalid member and the known ones.
 */
export function checkArguments<S extends TObject>(schema: S, given: unknown): Static<S> {
  const shape: Shape = schema
  const members: Record<string, unknown> = {}
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ValidationError('the arguments must be an object')
  }
  if (nestsTooDeep(given)) {
    throw new ValidationError(
      'the arguments nest arrays and objects too deeply; send flatter values',
      'invalid_json',
    )
  }
  for (const [name, value] of Object.entries(given)) {
    if (!knowsMember(shape, name))
      throw new ValidationError(unknownMember('argument', name, shape), 'unknown_parameter')
    if (value !== null || shape.required?.includes(name)) members[name] = value
  }
  const validate = COMPILED.get(schema) ?? ajv.compile(schema)
  COMPILED.set(schema, validate)
  if (validate(members)) return members as Static<S>
  const [fault] = validate.errors ?? []
  throw new ValidationError(
    fault === undefined ? 'the arguments do not have the expected shape' : shapeFault(members, shape, fault),
  )
}
