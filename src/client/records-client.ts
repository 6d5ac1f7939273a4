import type { DeletedAnswer } from '../wire/records/deleted.ts'
import type { EraseAnswer } from '../wire/records/erasure.ts'
import type { Condition } from '../wire/schema/conditions.ts'
import type {
  DeleteRecordsAnswer,
  PositionAnswer,
  RecordAnswer,
  RecordListAnswer,
  UpsertRecordsAnswer,
} from '../wire/records/records.ts'
import type { MomentAnswer } from '../wire/records/moment.ts'
import type { FileColumnsAnswer, FileColumnsQuery, ImportAnswer } from '../wire/records/import.ts'
import type { RevertAnswer } from '../wire/runs/revert.ts'
import type { SummaryAnswer } from '../wire/records/summary.ts'
import {
  jsonText,
  PROBLEM,
  type ActorOptions,
  type CallOptions,
  type Connection,
  type Query,
} from './connection.ts'

/** A record to write: fields that it does not name keep their values, `null` clears one. `R` is the type of the sheet's records. */
export type RecordPatch<R extends object = RecordAnswer> = { readonly id: string } & {
  readonly [Field in keyof R]?: R[Field] | null | undefined
}

/** The records and fields to read. */
export interface RecordSelection {
  /** Only these fields, in this order. */
  readonly fields?: readonly string[] | undefined
  /** A boolean SQL expression over the fields, such as `price > 10`, in the sheet's dialect. */
  readonly filter?: string | null | undefined
  /** A condition as data, such as `{field: 'price', operator: 'greater_than', value: 10}`; beside a filter, both must hold. */
  readonly where?: Condition | null | undefined
  /** Fields to sort by, those with a minus from the greatest down. Text is taken as it is: `-area,name`. */
  readonly sort?: readonly string[] | string | null | undefined
  /** The records as they were: after the provenance entry of this seq, or at this time (ISO 8601 with offset). */
  readonly as_of?: number | string | undefined
}

/** A page of a selection. */
export interface PageSelection extends RecordSelection {
  /** Records on the page, 50 unless it is said, at most 10,000. */
  readonly limit?: number | undefined
  /** The `next_cursor` of a page of the same selection. */
  readonly cursor?: string | undefined
  /** The number of records before the page, instead of `cursor`. */
  readonly position?: number | undefined
  /** With `as_of`, adds `changed` to the page: the fields of each record that have another value now. */
  readonly changed?: boolean | undefined
}

export interface WriteOptions extends ActorOptions {
  /** For one record: writes only if this is its version; `*` if the record exists. */
  readonly ifMatch?: string | null | undefined
}

export interface UpsertOptions extends WriteOptions {
  /** Writes only new records: if one of them exists, nothing is written (default: false). */
  readonly ifAbsent?: boolean | undefined
}

/** A record with its version, for a conditional write. */
export interface VersionedRecord<R> {
  readonly record: R
  /** Null for records of the past. */
  readonly version: string | null
}

/** The name of a file, and how it is read; what is absent is detected. */
export type FileReading = FileColumnsQuery

/** The options of an import. */
export interface FileImport extends FileReading {
  /** The fields of columns by their names; null leaves a column out. Columns that are absent follow their names. */
  readonly columns?: Readonly<Record<string, string | null>> | undefined
  readonly numbered?: boolean | undefined
  readonly keep_empty?: boolean | undefined
  readonly dry_run?: boolean | undefined
}

/** Records on a page that the iterators ask for. */
const PAGE_SIZE = 1000

/** `/api/records` and `/api/summary`. */
export class RecordsClient<R extends object = RecordAnswer> {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** One page. */
  list(
    selection: PageSelection = {},
    options?: CallOptions,
  ): Promise<Omit<RecordListAnswer, 'records'> & { readonly records: R[] }> {
    return this.#connection.get('/api/records', queryOf(selection), options)
  }

  /** An earlier state of the sheet, now if `as_of` is absent, and the range of states that are known. */
  history(query: Pick<RecordSelection, 'as_of'> = {}, options?: CallOptions): Promise<MomentAnswer> {
    return this.#connection.get('/api/history', { ...query }, options)
  }

  /** All pages, one after another, from the given one on. A record that exists all the while comes exactly once. */
  async *pages(
    selection: PageSelection = {},
    options?: CallOptions,
  ): AsyncGenerator<readonly R[], void, undefined> {
    const { position, cursor: first, ...rest } = selection
    let from: Pick<PageSelection, 'position' | 'cursor'> = { position, cursor: first }
    for (;;) {
      const page = await this.list({ limit: PAGE_SIZE, ...rest, ...from }, options)
      yield page.records
      if (page.next_cursor === null) return
      from = { cursor: page.next_cursor }
    }
  }

  /** All records of a selection, read page by page. */
  async *all(selection: RecordSelection = {}, options?: CallOptions): AsyncGenerator<R, void, undefined> {
    for await (const page of this.pages(selection, options)) yield* page
  }

  /** One record. Throws ApiError with status 404 where there is none. */
  async get(
    id: string,
    selection: Pick<RecordSelection, 'fields' | 'as_of'> = {},
    options?: CallOptions,
  ): Promise<R> {
    return (await this.getVersioned(id, selection, options)).record
  }

  /** One record with its version. */
  async getVersioned(
    id: string,
    selection: Pick<RecordSelection, 'fields' | 'as_of'> = {},
    { signal }: CallOptions = {},
  ): Promise<VersionedRecord<R>> {
    const path = `/api/records/${encodeURIComponent(id)}`
    const response = await this.#connection.request('GET', path, { query: { ...selection }, signal })
    return { record: (await response.json()) as R, version: response.headers.get('etag') }
  }

  /** Inserts and updates, all or nothing. */
  upsert(
    records: readonly RecordPatch<R>[],
    { ifMatch, ifAbsent = false, ...options }: UpsertOptions = {},
  ): Promise<UpsertRecordsAnswer> {
    return this.#connection.writeAs('/api/records', { records }, options, {
      headers: { ...ifMatchHeader(ifMatch), ...(ifAbsent && { 'if-none-match': '*' }) },
    })
  }

  /** Deletes what exists of these ids. */
  delete(
    ids: readonly string[],
    { actor, ifMatch, signal }: WriteOptions = {},
  ): Promise<DeleteRecordsAnswer> {
    return this.#connection.write('DELETE', '/api/records', {
      query: { ids },
      headers: { ...this.#connection.actorHeader(actor), ...ifMatchHeader(ifMatch) },
      signal,
    })
  }

  /**
   * Erases values of records for good, from the log too, of all or none; of all fields and with the records where `fields` is absent. The
   * records may be deleted already. With `dry_run` nothing is erased.
   */
  erase(
    ids: readonly string[],
    {
      fields,
      dry_run: dryRun,
      ...options
    }: ActorOptions & {
      readonly fields?: readonly string[] | undefined
      readonly dry_run?: boolean | undefined
    } = {},
  ): Promise<EraseAnswer> {
    const body = { ids, ...(fields && { fields }) }
    return this.#connection.writeAs('/api/erase', body, options, { query: { dry_run: dryRun } })
  }

  /**
   * Restores deleted records, all or none: each as its latest deletion left it, or one as the deletion with this `seq` did. Throws
   * ApiError with status 409 where one of them exists.
   */
  restore(
    deleted: readonly string[] | { readonly record_id: string; readonly seq: number },
    options?: ActorOptions,
  ): Promise<RevertAnswer> {
    const body = 'seq' in deleted ? { ...deleted } : { record_ids: deleted }
    return this.#connection.writeAs('/api/revert', body, options)
  }

  /** The deleted records that were not restored, the last deleted first. */
  deleted(
    page: { readonly limit?: number | undefined; readonly cursor?: string | null | undefined } = {},
    options?: CallOptions,
  ): Promise<DeletedAnswer> {
    return this.#connection.get('/api/deleted', { ...page }, options)
  }

  /**
   * The records as a file: `csv`, `json`, `ndjson`, `parquet` or `xlsx`; or the provenance of the sheet: `openlineage`, in a
   * `namespace`, or `prov-json`. The body of the answer is a stream, which fails when the file could not be made to its end.
   */
  export(
    format: string,
    selection: Omit<RecordSelection, 'as_of'> & {
      readonly raw?: boolean | undefined
      readonly namespace?: string | undefined
    } = {},
    { signal }: CallOptions = {},
  ): Promise<Response> {
    const path = `/api/export/${encodeURIComponent(format)}`
    return this.#connection.request('GET', path, {
      query: queryOf(selection),
      headers: { accept: `${PROBLEM}, */*` },
      signal,
    })
  }

  /** Returns the columns of a file, and the fields that they are by their names. */
  fileColumns(file: Blob, reading: FileReading, { signal }: CallOptions = {}): Promise<FileColumnsAnswer> {
    return this.#connection.write('POST', '/api/import/columns', {
      query: { ...reading },
      body: file,
      signal,
    })
  }

  /** Imports the records of a file, all or none; the run of the answer can be reverted. With `dry_run` nothing is written. */
  import(
    file: Blob,
    { columns, ...options }: FileImport,
    { actor, signal }: ActorOptions = {},
  ): Promise<ImportAnswer> {
    return this.#connection.write('POST', '/api/import', {
      query: { ...options, columns: jsonText(columns) },
      headers: this.#connection.actorHeader(actor),
      body: file,
      signal,
    })
  }

  /** Counts records, and tells what they have in some fields. */
  summary(
    selection: Pick<RecordSelection, 'fields' | 'filter' | 'where'> & {
      /** Lists the values that have this text in them, instead of the most frequent ones. */
      readonly search?: string | null | undefined
      /** Counts records by the values of this field. */
      readonly group?: string | undefined
      /** A second field, which divides the groups, and the histograms of `fields`. */
      readonly split?: string | undefined
      /** Numbers that are added up in each group. */
      readonly totals?: readonly string[] | undefined
      /** The length of time by which dates and timestamps are grouped. */
      readonly period?: 'day' | 'month' | 'year' | undefined
    } = {},
    options?: CallOptions,
  ): Promise<SummaryAnswer> {
    return this.#connection.get('/api/summary', queryOf(selection), options)
  }

  /**
   * Returns the number of records of a selection before this one, of those that meet the condition `among` if there is one; null when
   * the selection lacks it.
   */
  async position(
    id: string,
    {
      among,
      ...selection
    }: Pick<RecordSelection, 'filter' | 'where' | 'sort' | 'as_of'> & {
      readonly among?: Condition | null | undefined
    } = {},
    options?: CallOptions,
  ): Promise<number | null> {
    const query = {
      record_id: id,
      ...queryOf(selection),
      ...(among ? { among: JSON.stringify(among) } : {}),
    }
    const { position } = await this.#connection.get<PositionAnswer>('/api/position', query, options)
    return position
  }
}

/** A selection as the parameters of a request. */
function queryOf<S extends Pick<RecordSelection, 'where'>>({
  where,
  ...selection
}: S): Query & Omit<S, 'where'> {
  return { ...selection, where: jsonText(where) }
}

function ifMatchHeader(version: string | null | undefined): Record<string, string> {
  return version === null || version === undefined ? {} : { 'if-match': version }
}
