import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2019, type ValidateFunction } from 'ajv/dist/2019.js'
import addFormats from 'ajv-formats'

const SCHEMA = join(import.meta.dirname, '../../../shared/data/odcs/odcs-json-schema-v3.1.0.json')

/** The reason why tests against the standard's own JSON Schema cannot run here, or false, for a test's option `skip`. */
export const odcsSchemaMissing: string | false = existsSync(SCHEMA)
  ? false
  : 'the JSON Schema of the Open Data Contract Standard is not beside the repository (shared/data/odcs)'

let compiled: ValidateFunction | undefined

/** Returns the violations of the standard's own JSON Schema (v3.1.0); empty for a valid document. */
export function odcsFaults(document: unknown): readonly string[] {
  compiled ??= compile()
  if (compiled(document)) return []
  return (compiled.errors ?? []).map((error) => `${error.instancePath}: ${error.message ?? error.keyword}`)
}

function compile(): ValidateFunction {
  const ajv = new Ajv2019({ strict: false, allErrors: true })
  addFormats.default(ajv)
  return ajv.compile(JSON.parse(readFileSync(SCHEMA, 'utf8')) as object)
}
