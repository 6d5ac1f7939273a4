import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonObject } from '../../src/contract/json/json.ts'

const SHARED = join(import.meta.dirname, '../../../shared/data')
const OPENLINEAGE = join(SHARED, 'openlineage')
const PROV_JSON = join(SHARED, 'prov-json/prov-json-schema.json')

/** The reason why tests against the published schemas of both formats cannot run here, or false, for a test's option `skip`. */
export const lineageSchemasMissing: string | false =
  existsSync(OPENLINEAGE) && existsSync(PROV_JSON)
    ? false
    : 'the published schemas are not beside the repository (shared/data/openlineage, shared/data/prov-json)'

/** Checks documents against the published schemas. */
export class LineageSchemas {
  readonly #openlineage = ajv()
  readonly #provJson: ValidateFunction

  constructor() {
    const facets = join(OPENLINEAGE, 'facets')
    this.#openlineage.addSchema(schemaIn(join(OPENLINEAGE, 'OpenLineage.json')))
    for (const name of readdirSync(facets)) this.#openlineage.addSchema(schemaIn(join(facets, name)))
    // It says that it is of draft 4, and has no keyword that has changed since.
    const { $schema: _, ...schema } = schemaIn(PROV_JSON)
    this.#provJson = ajv().compile(schema)
  }

  /** Returns the violations of an event of OpenLineage and of each facet in it; empty for a valid one. */
  eventFaults(event: JsonObject): readonly string[] {
    const schemas = new Map<string, JsonObject[]>()
    collectFacets({ ...event, _schemaURL: event['schemaURL'] ?? '' }, schemas)
    return [...schemas].flatMap(([url, values]) => {
      const validate = this.#openlineage.getSchema(url)
      return validate === undefined
        ? [`no schema ${url}`]
        : values.flatMap((value) => faultsOf(validate, value))
    })
  }

  /** Returns the violations of a PROV-JSON document; empty for a valid one. */
  documentFaults(document: JsonObject): readonly string[] {
    return faultsOf(this.#provJson, document)
  }
}

function ajv(): Ajv2020 {
  const made = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(made)
  return made
}

function schemaIn(path: string): AnySchemaObject {
  return JSON.parse(readFileSync(path, 'utf8')) as AnySchemaObject
}

/** Collects the facets in a value, by the schema that each names. */
function collectFacets(value: unknown, found: Map<string, JsonObject[]>): void {
  if (typeof value !== 'object' || value === null) return
  const url = (value as JsonObject)['_schemaURL']
  if (typeof url === 'string') found.set(url, [...(found.get(url) ?? []), value as JsonObject])
  for (const member of Object.values(value)) collectFacets(member, found)
}

function faultsOf(validate: ValidateFunction, value: unknown): readonly string[] {
  if (validate(value)) return []
  return (validate.errors ?? []).map((error) => `${error.instancePath}: ${error.message ?? error.keyword}`)
}
