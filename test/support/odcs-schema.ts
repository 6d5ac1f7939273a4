import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import addFormats from 'ajv-formats'

const SCHEMA = join(import.meta.dirname, '../../../shared/data/odcs/odcs-json-schema-v3.1.0.json')

/** Why tests against the standard's own JSON Schema cannot run here, or false; fits the `skip` option of a test. */
export const odcsSchemaMissing: string | false = existsSync(SCHEMA)
  ? false
  : 'the JSON Schema of the Open Data Contract Standard is not beside the repository (shared/data/odcs)'

/** What the standard's own JSON Schema (v3.1.0) holds against a document; empty when it is valid. */
export function odcsFaults(document: unknown): readonly string[] {
  const ajv = new Ajv2019({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const validate = ajv.compile(JSON.parse(readFileSync(SCHEMA, 'utf8')) as object)
  if (validate(document)) return []
  return (validate.errors ?? []).map((error) => `${error.instancePath}: ${error.message ?? error.keyword}`)
}
