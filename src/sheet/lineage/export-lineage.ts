import { ValidationError } from '../../errors/service-error.ts'
import { packageVersion } from '../../package/package-files.ts'
import type { Sheet } from '../sheet.ts'
import type { RecordExport } from '../transfer/export-records.ts'
import { LINEAGE_FACTS, type LineageFormat } from './lineage-formats.ts'
import { openlineageBytes } from './openlineage.ts'
import { provJsonBytes } from './prov-json.ts'
import { sheetUuid } from './sheet-ids.ts'

export interface LineageQuery {
  readonly format: LineageFormat
  /** The namespace of the jobs and datasets of OpenLineage; null for `colophon`. */
  readonly namespace: string | null
}

const MAX_NAMESPACE = 200

/**
 * Exports the provenance of a sheet in a published format. Throws ValidationError for a bad namespace, and ContractError while the contract
 * or a derivation is broken.
 */
export async function exportLineage(
  sheet: Sheet,
  { format, namespace }: LineageQuery,
): Promise<RecordExport> {
  const { store } = await sheet.defined()
  if (format !== 'openlineage' && namespace !== null) {
    throw new ValidationError(
      `namespace applies to openlineage only: ${format} has the id of the sheet`,
      'conflicting_parameters',
    )
  }
  const described = {
    name: sheet.name,
    uuid: sheetUuid(store),
    namespace: namespaceOf(namespace),
    version: packageVersion(),
  }
  const { ending, contentType } = LINEAGE_FACTS[format]
  const bytes = format === 'openlineage' ? openlineageBytes(sheet, described) : provJsonBytes(sheet)
  return { fileName: `${sheet.name}${ending}`, contentType, bytes, share: () => null }
}

function namespaceOf(namespace: string | null): string {
  if (namespace === null) return 'colophon'
  if (namespace.trim() !== '' && namespace.length <= MAX_NAMESPACE) return namespace
  throw new ValidationError(
    `namespace has ${namespace.trim() === '' ? 'no character' : `${namespace.length} characters`}; write a text of 1 to ${MAX_NAMESPACE} characters, such as colophon`,
  )
}
