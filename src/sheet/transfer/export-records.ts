import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Contract, Field } from '../../contract/contract.ts'
import { ValidationError } from '../../errors/service-error.ts'
import {
  delimiterOf,
  FORMAT_FACTS,
  formatOf,
  isFileFormat,
  FILE_FORMATS,
  type FileFormat,
} from '../../files/io/file-format.ts'
import { writeInThread } from '../../files/write-in-thread.ts'
import { writeRecordFile } from '../../files/write-record-file.ts'
import type { Page, PageQuery, SheetStore } from '../../store/sheet-store.ts'
import { conditionedSheet } from '../queries/conditioned-sheet.ts'
import { selectFields } from '../queries/select-fields.ts'
import type { Sheet } from '../sheet.ts'
import { sortKeys } from '../queries/sort-keys.ts'

export { delimiterOf, FILE_FORMATS, formatOf, isFileFormat, type FileFormat }

export interface ExportQuery {
  readonly format: FileFormat
  /** The columns, in this order; null for all fields. */
  readonly fields: readonly string[] | null
  /** A boolean SQL expression over the fields (D16); null for all records. */
  readonly filter: string | null
  /** A condition as data, as in `listRecords`; null or absent for all records. */
  readonly where?: string | null
  /** Fields to sort by, as in `listRecords`; null is creation order. */
  readonly sort: readonly string[] | null
  /** Whether CSV texts stay as they are, including those that a spreadsheet program would execute as formulas. */
  readonly raw: boolean
  /** The separator of CSV cells, one character; null or absent for a comma. */
  readonly delimiter?: string | null
}

/** An export of records, whose bytes are produced on demand. */
export interface RecordExport {
  readonly fileName: string
  readonly contentType: string
  /**
   * The bytes, which can be read once. Throws errors during the export; the bytes before are then not a complete file.
   * Closing the iterator stops the export.
   */
  readonly bytes: AsyncIterable<Uint8Array>
  /** Returns the fraction of records that has been read, from 0 to 1, approximately; null when unknown. */
  share(): number | null
}

/** The size of pages, in records and bytes. Other requests wait while one is read, some milliseconds. */
const MAX_PAGE_RECORDS = 10_000
const FIRST_PAGE_RECORDS = 500
const PAGE_BYTES = 256 << 10
/** The size, in bytes, of pages that a child process reads, and that require a search or sort each time. */
const SEARCHED_PAGE_BYTES = 4 << 20

/**
 * Exports the records that match a filter, in constant memory. A record that exists during the whole export is in it
 * once (D11), as it is when its page is read. Before the first byte, throws QueryError for a bad filter and
 * ValidationError for a bad field, condition or order, or for one of the first records that the format cannot
 * represent.
 */
export async function exportRecords(sheet: Sheet, query: ExportQuery): Promise<RecordExport> {
  const { format, raw, delimiter = null } = query
  if (raw && format !== 'csv') {
    throw new ValidationError(
      `raw applies to csv only: in ${format} texts are never executed as formulas`,
      'conflicting_parameters',
    )
  }
  if (delimiter !== null && format !== 'csv') {
    throw new ValidationError(`delimiter applies to csv only; ${format} has none`, 'conflicting_parameters')
  }
  const { contract, store, where } = await conditionedSheet(sheet, query.where ?? null)
  const fields = selectFields(contract, query.fields)
  const walk: Walk = {
    fields,
    filter: query.filter,
    where,
    sort: sortKeys(contract, query.sort),
    skip: 0,
  }
  // Errors of the filter are thrown before the first byte.
  const first = await store.page({ ...walk, after: null, limit: FIRST_PAGE_RECORDS })
  const { lastKey } = await store.status()
  let at: number | null = null
  const pages = walkPages({ store, walk, first, onPage: (key) => (at = key) })
  const { contentType, endings } = FORMAT_FACTS[format]
  // One short page delays no other request, and is written sooner than a thread starts.
  const isShort = first.next === null && first.records.length <= PAGE_BYTES
  const write = isShort ? writeRecordFile : writeInThread
  return {
    fileName: `${sheet.name}${endings[0]}`,
    contentType,
    bytes: await begun(write(format, { fields: fieldsOf(contract, fields), pages }, { raw, delimiter })),
    // Keys increase in creation order.
    share: () => (walk.sort.length > 0 || at === null ? null : Math.min(1, at / lastKey)),
  }
}

/** Produces the first bytes, so that errors of the first records are thrown before any are sent. */
async function begun(bytes: AsyncGenerator<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  let first: IteratorResult<Uint8Array> | null = await bytes.next()
  const iterator: AsyncIterator<Uint8Array> = {
    next: async () => {
      const result = first ?? (await bytes.next())
      first = null
      return result
    },
    return: () => bytes.return(undefined),
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

type Walk = Omit<PageQuery, 'after' | 'limit'>

function fieldsOf(contract: Contract, names: readonly string[]): readonly Field[] {
  return names.flatMap((name) => contract.fieldByName.get(name) ?? [])
}

interface PageWalk {
  readonly store: SheetStore
  readonly walk: Walk
  readonly first: Page
  /** Called with the key of the last record of each page but the last. */
  onPage(key: number): void
}

async function* walkPages({ store, walk, first, onPage }: PageWalk): AsyncGenerator<Uint8Array> {
  let page = first
  let limit = FIRST_PAGE_RECORDS
  const isSearch = walk.filter !== null || Boolean(walk.where) || walk.sort.length > 0
  const pageBytes = isSearch ? SEARCHED_PAGE_BYTES : PAGE_BYTES
  for (;;) {
    yield page.records
    if (page.next === null) return
    onPage(page.next.key)
    limit = nextLimit(limit, { bytes: page.records.length, wanted: pageBytes })
    // Other requests are handled between pages.
    await nextTurn()
    page = await store.page({ ...walk, after: page.next, limit })
  }
}

/** Returns the number of records that come to about the wanted bytes. */
function nextLimit(
  limit: number,
  { bytes, wanted }: { readonly bytes: number; readonly wanted: number },
): number {
  const fitting = Math.floor((limit * wanted) / Math.max(1, bytes))
  return Math.max(1, Math.min(MAX_PAGE_RECORDS, limit * 2, fitting))
}
