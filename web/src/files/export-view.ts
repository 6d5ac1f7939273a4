import { filterParameters, type RecordFilter } from '../api/record-filter.ts'
import { server } from '../api/server.ts'

/** The formats of exported files, with their names in menus. */
export const EXPORT_FORMATS = {
  csv: 'CSV, for spreadsheets',
  xlsx: 'XLSX, for Excel',
  json: 'JSON, for programs',
  ndjson: 'NDJSON, one record a line',
  parquet: 'Parquet, for data tools',
} as const

export type ExportFormat = keyof typeof EXPORT_FORMATS

/** The records and columns that the grid shows. */
export interface ShownView {
  readonly filter: RecordFilter | null
  /** `-area,name`; null for creation order. */
  readonly sort: string | null
  /** The visible fields in the order of the columns. */
  readonly fields: readonly string[]
}

/**
 * Downloads a view as a file, which the browser writes while it arrives. Throws ApiError for a view that cannot be read: the browser
 * would only show that the download failed.
 */
export async function exportView(format: ExportFormat, view: ShownView): Promise<void> {
  const { filter, sort, fields } = view
  await server.records.list({ ...filterParameters(filter), sort, fields, limit: 1 })
  const link = document.createElement('a')
  link.href = exportPath(format, view)
  link.download = ''
  link.click()
}

/** Returns the URL of the file of a view. */
export function exportPath(format: ExportFormat, { filter, sort, fields }: ShownView): string {
  const { where, filter: sql } = filterParameters(filter)
  const query = new URLSearchParams({ fields: fields.join() })
  if (where !== undefined) query.set('where', JSON.stringify(where))
  if (sql !== undefined) query.set('filter', sql)
  if (sort !== null) query.set('sort', sort)
  return `/api/export/${format}?${query.toString()}`
}
