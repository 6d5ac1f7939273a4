import { readRecordSchemas, type JsonSchema, type RecordSchemas } from '../../sheet/read-record-schemas.ts'
import type { Sheet } from '../../sheet/sheet.ts'
import { openApiDocument } from './document.ts'
import type { RouteOperation } from './operation-table.ts'

/** An OpenAPI document, and its text in UTF-8. */
export interface OpenApiFile {
  readonly document: JsonSchema
  readonly bytes: Buffer
}

/**
 * The OpenAPI document of a sheet as it is now. It is made once for each contract, which is another whenever
 * `contract.yaml` is; while that is broken there is a document all the same, with records of any fields.
 */
export function createOpenApi(
  sheet: Sheet,
  operations: readonly RouteOperation[],
): () => Promise<OpenApiFile> {
  const made = new WeakMap<RecordSchemas, OpenApiFile>()
  let general: OpenApiFile | null = null
  const make = (records: RecordSchemas | null): OpenApiFile => {
    const document = openApiDocument({ operations, records, name: sheet.name, dialect: sheet.dialect })
    return { document, bytes: Buffer.from(JSON.stringify(document)) }
  }
  return async () => {
    const records = await readRecordSchemas(sheet)
    if (records === null) return (general ??= make(null))
    const known = made.get(records) ?? make(records)
    made.set(records, known)
    return known
  }
}
