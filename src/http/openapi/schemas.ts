import * as changes from '../../wire/service/sheet-frame.ts'
import * as contract from '../../wire/definition/contract.ts'
import * as contractChanges from '../../wire/definition/contract-changes.ts'
import * as csrf from '../../wire/service/csrf.ts'
import * as definitionChange from '../../wire/definition/change.ts'
import * as derivations from '../../wire/definition/derivations.ts'
import * as dialect from '../../wire/schema/dialect.ts'
import * as errorEnvelope from '../../wire/service/error-envelope.ts'
import * as failures from '../../wire/runs/failures.ts'
import * as frames from '../../wire/runs/materialize-frames.ts'
import { IN_DOCUMENT, type ExampleOf } from '../../wire/schema/openapi-keywords.ts'
import * as health from '../../wire/service/health.ts'
import * as log from '../../wire/records/log.ts'
import * as materialize from '../../wire/runs/materialize.ts'
import * as names from '../../wire/schema/names.ts'
import { WHOLE_NUMBER } from '../../wire/schema/page-parameters.ts'
import * as permissions from '../../wire/records/permissions.ts'
import * as preview from '../../wire/definition/preview.ts'
import * as problem from '../../wire/service/problem.ts'
import * as proposals from '../../wire/records/proposals.ts'
import * as reviews from '../../wire/records/reviews.ts'
import * as propose from '../../wire/definition/propose.ts'
import * as provenance from '../../wire/records/provenance.ts'
import * as query from '../../wire/records/query.ts'
import * as records from '../../wire/records/records.ts'
import * as revert from '../../wire/runs/revert.ts'
import * as runs from '../../wire/runs/runs.ts'
import * as sql from '../../wire/records/sql.ts'
import * as status from '../../wire/runs/status.ts'
import * as summary from '../../wire/records/summary.ts'
import type { JsonSchema } from '../../sheet/schema/read-record-schemas.ts'

const WIRE = [
  changes,
  contract,
  contractChanges,
  csrf,
  definitionChange,
  derivations,
  dialect,
  errorEnvelope,
  failures,
  frames,
  health,
  log,
  materialize,
  names,
  permissions,
  preview,
  problem,
  proposals,
  propose,
  provenance,
  query,
  records,
  revert,
  reviews,
  runs,
  sql,
  status,
  summary,
]

/** Values of the sheet that serve as examples. */
export type SheetExamples = Readonly<Partial<Record<ExampleOf, unknown>>>

/** Components whose names differ from those of their schemas. */
const NAMES: Readonly<Record<string, string>> = { RecordAnswer: 'Record' }

const NAME_OF: ReadonlyMap<unknown, string> = new Map(
  WIRE.flatMap((module) => Object.entries(module))
    .filter(([name, value]) => typeof value === 'object' && !/(?:Query|Params)$/.test(name))
    .map(([name, value]) => [value, NAMES[name] ?? name]),
)

/** Converts schemas of wire/ into those of an OpenAPI document: named schemas become components, which are referred to. */
export class Components {
  readonly #schemas = new Map<string, JsonSchema>()
  readonly #given: Readonly<Record<string, JsonSchema>>
  readonly #examples: SheetExamples

  /** `given` are components that replace those of the same name from wire/. */
  constructor(given: Readonly<Record<string, JsonSchema>>, examples: SheetExamples) {
    this.#given = given
    this.#examples = examples
  }

  /** Every component that was referred to, by name. */
  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Returns a schema as the document contains it. */
  use(schema: unknown): JsonSchema {
    return this.#named(schema, (given) => this.#convert(given))
  }

  /** Returns the schema of a body: `null` for an optional member means that it is absent (D36). */
  useBody(schema: unknown): JsonSchema {
    return this.#named(schema, (given) => {
      const body = this.#convert(given)
      return Array.isArray(body['anyOf'])
        ? oneOfForms(body, body['anyOf'] as JsonSchema[])
        : optionalOrNull(body)
    })
  }

  #named(schema: unknown, convert: (schema: JsonSchema) => JsonSchema): JsonSchema {
    const name = NAME_OF.get(schema)
    if (name === undefined) return convert(schema as JsonSchema)
    if (!this.#schemas.has(name)) {
      // First, so that a schema may be part of itself.
      this.#schemas.set(name, {})
      this.#schemas.set(name, this.#given[name] ?? convert(schema as JsonSchema))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  #convert(schema: JsonSchema & { readonly [IN_DOCUMENT]?: JsonSchema }): JsonSchema {
    const { exampleOf, ...keywords } = schema[IN_DOCUMENT] ?? {}
    const parts: Record<string, unknown> = {}
    for (const [key, value] of Object.entries({ ...schema, ...keywords })) {
      if (value !== undefined) parts[key] = this.#part(key, value)
    }
    const { description } = parts
    if (typeof description === 'string') parts['description'] = withoutDecisions(description)
    const example = this.#examples[exampleOf as ExampleOf]
    if (example !== undefined) parts['examples'] = [example]
    return simplify(parts)
  }

  #part(key: string, value: unknown): unknown {
    if (key === 'items' || key === 'additionalProperties' || key === 'not' || key === 'contentSchema') {
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

/** Removes the numbers of rules, which only developers of the service need. */
function withoutDecisions(description: string): string {
  return description.replaceAll(/ \(D\d+(?:, D\d+)*\)/g, '')
}

/** Rewrites a schema with the keywords that readers and client generators support best. */
function simplify(schema: Readonly<Record<string, unknown>>): JsonSchema {
  const { anyOf, patternProperties, pattern, title: _title, ...rest } = schema
  const { allOf, type: _type, ...besides } = rest
  // Beside a description and examples, the reference alone is enough.
  if (Array.isArray(allOf) && allOf.length === 1) return { ...besides, ...(allOf[0] as JsonSchema) }
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

/** Returns the forms of a body; in each, the members of the other forms are absent or null. */
function oneOfForms(body: JsonSchema, forms: readonly JsonSchema[]): JsonSchema {
  const { anyOf: _anyOf, ...rest } = body
  const all = forms.flatMap((form) => Object.keys(propertiesOf(form)))
  return {
    ...rest,
    oneOf: forms.map((form) => {
      const { properties, ...others } = optionalOrNull(form)
      const absent = all.filter((name) => !Object.hasOwn(propertiesOf(form), name))
      const ofOthers = Object.fromEntries(absent.map((name) => [name, { type: 'null' }]))
      return { ...others, properties: { ...(properties as object), ...ofOthers } }
    }),
  }
}

function optionalOrNull(body: JsonSchema): JsonSchema {
  const required = (body['required'] ?? []) as readonly string[]
  const properties = Object.entries(propertiesOf(body)).map(([name, given]) => {
    const schema = safely(given)
    return [name, required.includes(name) ? schema : orNull(schema)]
  })
  return { ...body, properties: Object.fromEntries(properties) as JsonSchema }
}

/** Bounds the integers of bodies to those that JSON parsers do not round. */
function safely(schema: JsonSchema): JsonSchema {
  return schema['type'] === 'integer' ? { maximum: Number.MAX_SAFE_INTEGER, ...schema } : schema
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>
}

function orNull({ $ref, type, enum: values, ...rest }: JsonSchema): JsonSchema {
  if ($ref !== undefined) return { ...rest, anyOf: [{ $ref }, { type: 'null' }] }
  const listed = Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}
  return { ...rest, type: [...new Set([type, 'null'].flat())], ...listed }
}

/** Turns a union of constants into an enumeration, and a type or null into a list of types. */
function simplifyUnion(schemas: readonly JsonSchema[]): JsonSchema {
  const others = schemas.filter(({ type }) => type !== 'null')
  const isNullable = others.length < schemas.length
  const typeOrNull = (type: unknown): unknown => (isNullable ? [type, 'null'] : type)
  const [first] = others
  if (
    first !== undefined &&
    others.every(({ const: value, type }) => value !== undefined && type === first['type'])
  ) {
    const values = others.map(({ const: value }) => value)
    return { type: typeOrNull(first['type']), enum: isNullable ? [...values, null] : values }
  }
  if (
    isNullable &&
    others.length === 1 &&
    typeof first?.['type'] === 'string' &&
    first['const'] === undefined
  ) {
    return { ...first, type: typeOrNull(first['type']) }
  }
  return { anyOf: schemas }
}
