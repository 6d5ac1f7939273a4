import {
  readSheetSchemas,
  type JsonSchema,
  type SheetSchemas,
} from '../../sheet/schema/read-record-schemas.ts'
import type { Sheet } from '../../sheet/sheet.ts'
import { openApiDocument } from './document.ts'
import type { RouteOperation } from './operation-table.ts'

/** An OpenAPI document, and its text in UTF-8. */
export interface OpenApiFile {
  readonly document: JsonSchema
  readonly bytes: Buffer
}

/**
 * Returns the present OpenAPI document of a sheet. It is rebuilt when the contract, the derivations or the sample record have changed.
 * While the contract is invalid, it describes records with any fields.
 */
export function createOpenApi(
  sheet: Sheet,
  operations: readonly RouteOperation[],
): () => Promise<OpenApiFile> {
  let last: { readonly schemas: SheetSchemas; readonly file: OpenApiFile } | null = null
  return async () => {
    const schemas = await readSheetSchemas(sheet)
    if (last !== null && isSame(last.schemas, schemas)) return last.file
    const document = openApiDocument({ operations, schemas, name: sheet.name, dialect: sheet.dialect })
    const file = { document, bytes: Buffer.from(JSON.stringify(document)) }
    last = { schemas, file }
    return file
  }
}

function isSame(a: SheetSchemas, b: SheetSchemas): boolean {
  return a.records === b.records && a.derivations === b.derivations && a.sample === b.sample
}
