import * as changes from '../../wire/changes.ts'
import * as contract from '../../wire/contract.ts'
import * as csrf from '../../wire/csrf.ts'
import * as derivations from '../../wire/derivations.ts'
import * as dialect from '../../wire/dialect.ts'
import * as errorEnvelope from '../../wire/error-envelope.ts'
import * as frames from '../../wire/frames.ts'
import * as health from '../../wire/health.ts'
import * as materialize from '../../wire/materialize.ts'
import { WHOLE_NUMBER } from '../../wire/page-parameters.ts'
import * as permissions from '../../wire/permissions.ts'
import * as problem from '../../wire/problem.ts'
import * as proposals from '../../wire/proposals.ts'
import * as provenance from '../../wire/provenance.ts'
import * as query from '../../wire/query.ts'
import * as records from '../../wire/records.ts'
import * as revert from '../../wire/revert.ts'
import * as runs from '../../wire/runs.ts'
import * as sql from '../../wire/sql.ts'
import * as status from '../../wire/status.ts'
import * as summary from '../../wire/summary.ts'
import type { JsonSchema } from '../../sheet/read-record-schemas.ts'

const WIRE = [
  changes,
  contract,
  csrf,
  derivations,
  dialect,
  errorEnvelope,
  frames,
  health,
  materialize,
  permissions,
  problem,
  proposals,
  provenance,
  query,
  records,
  revert,
  runs,
  sql,
  status,
  summary,
]

/** Components that are called otherwise than their schemas. */
const NAMES: Readonly<Record<string, string>> = { RecordAnswer: 'Record' }

const NAME_OF: ReadonlyMap<unknown, string> = new Map(
  WIRE.flatMap((module) => Object.entries(module))
    .filter(([name, value]) => typeof value === 'object' && !/(?:Query|Params)$/.test(name))
    .map(([name, value]) => [value, NAMES[name] ?? name]),
)

/**
 * Turns schemas of wire/ into those of an OpenAPI document: what has a name there becomes a component of that name, and is
 * referred to.
 */
export class Components {
  readonly #schemas = new Map<string, JsonSchema>()

  /** `given` are components that are not made from wire/, but take the place of those of the same name. */
  constructor(given: Readonly<Record<string, JsonSchema>>) {
    for (const [name, schema] of Object.entries(given)) this.#schemas.set(name, schema)
  }

  /** Every component that was referred to, by name. */
  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** A schema as it stands in the document. */
  use(schema: unknown): JsonSchema {
    const name = NAME_OF.get(schema)
    if (name === undefined) return this.#convert(schema as JsonSchema)
    if (!this.#schemas.has(name)) {
      // First, so that a schema may be part of itself.
      this.#schemas.set(name, {})
      this.#schemas.set(name, this.#convert(schema as JsonSchema))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  #convert(schema: JsonSchema): JsonSchema {
    const parts: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(schema)) parts[key] = this.#part(key, value)
    const { description } = parts
    if (typeof description === 'string') parts['description'] = withoutDecisions(description)
    return simplify(parts)
  }

  #part(key: string, value: unknown): unknown {
    if (key === 'items' || key === 'additionalProperties' || key === 'not') {
      return typeof value === 'object' ? this.use(value) : value
    }
    if (key === 'anyOf' || key === 'oneOf' || key === 'allOf') {
      return (value as readonly unknown[]).map((one) => this.use(one))
    }
    if (key === 'properties' || key === 'patternProperties') {
      return Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, this.use(one)]))
    }
    return value
  }
}

/** Numbers of decisions are for who works on the service. */
function withoutDecisions(description: string): string {
  return description.replaceAll(/ \(D\d+(?:, D\d+)*\)/g, '')
}

/** The same schema in the words that readers and generators of clients know best. */
function simplify(schema: Readonly<Record<string, unknown>>): JsonSchema {
  const { anyOf, patternProperties, pattern, title: _title, ...rest } = schema
  if (pattern === WHOLE_NUMBER) return { ...rest, type: 'integer' }
  const any = (patternProperties as Readonly<Record<string, unknown>> | undefined)?.['^.*$']
  return {
    ...rest,
    ...(pattern === undefined ? {} : { pattern }),
    ...(patternProperties === undefined ? {} : any === undefined ? { patternProperties } : anyMember(any)),
    ...(Array.isArray(anyOf) ? simplifyUnion(anyOf as readonly JsonSchema[]) : {}),
  }
}

function anyMember(schema: unknown): JsonSchema {
  const isAnything = Object.keys(schema as object).length === 0
  return { additionalProperties: isAnything ? true : schema }
}

/** A union of constants is a list of them; a type or null is one type more. */
function simplifyUnion(schemas: readonly JsonSchema[]): JsonSchema {
  const others = schemas.filter(({ type }) => type !== 'null')
  const isNullable = others.length < schemas.length
  const orNull = (type: unknown): unknown => (isNullable ? [type, 'null'] : type)
  const [first] = others
  if (
    first !== undefined &&
    others.every(({ const: value, type }) => value !== undefined && type === first['type'])
  ) {
    const values = others.map(({ const: value }) => value)
    return { type: orNull(first['type']), enum: isNullable ? [...values, null] : values }
  }
  if (
    isNullable &&
    others.length === 1 &&
    typeof first?.['type'] === 'string' &&
    first['const'] === undefined
  ) {
    return { ...first, type: orNull(first['type']) }
  }
  return { anyOf: schemas }
}
