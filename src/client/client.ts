import type { SheetFrame } from '../wire/service/sheet-frame.ts'
import type { Condition } from '../wire/schema/conditions.ts'
import type { ContractAnswer } from '../wire/definition/contract.ts'
import type { DerivationListAnswer } from '../wire/definition/derivations.ts'
import type { WireFrame } from '../wire/runs/materialize-frames.ts'
import type { PermissionsAnswer } from '../wire/records/permissions.ts'
import type { QueryAnswer } from '../wire/records/query.ts'
import type { RecordAnswer } from '../wire/records/records.ts'
import type { DialectAnswer } from '../wire/records/sql.ts'
import type { StatusAnswer } from '../wire/runs/status.ts'
import { CellsClient } from './cells-client.ts'
import { Connection, jsonText, type CallOptions, type ConnectionOptions } from './connection.ts'
import { DefinitionClient } from './definition-client.ts'
import { LogClient } from './log-client.ts'
import { ProposalsClient } from './proposals-client.ts'
import { NamedClient } from './named-client.ts'
import { readEvents, type StreamOptions } from './read-events.ts'
import { RecordsClient } from './records-client.ts'
import { RunsClient } from './runs-client.ts'

export { ApiError } from './api-error.ts'
export type { Condition } from '../wire/schema/conditions.ts'
export type { CellsClient, Cell } from './cells-client.ts'
export type { ActorOptions, CallOptions } from './connection.ts'
export type {
  ChangeOptions,
  DefinitionClient,
  FieldAnswer,
  FieldChange,
  FileChangeOptions,
  HistoryPage,
  NewContract,
  NewField,
  PreviewOrder,
  VersionedContract,
} from './definition-client.ts'
export type { LogClient } from './log-client.ts'
export type { NamedClient, NewChart, NewView } from './named-client.ts'
export type { ProposalCells, ProposalPage, ProposalsClient, ProposedWrite } from './proposals-client.ts'
export type { StreamOptions } from './read-events.ts'
export type {
  FileImport,
  FileReading,
  PageSelection,
  RecordPatch,
  RecordsClient,
  RecordSelection,
  UpsertOptions,
  VersionedRecord,
  WriteOptions,
} from './records-client.ts'
export type { RunCells, RunEvent, RunOrder, RunPage, RunsClient } from './runs-client.ts'

/** The server and the actor of a client. */
export type ClientOptions = Partial<ConnectionOptions>

export interface QueryOptions extends CallOptions {
  /** Whether the answer names its columns. */
  readonly columns?: boolean | undefined
}

/** A value for a `?` of a statement. */
export type QueryParam = null | boolean | number | string

/** A sheet behind a server. Names in questions and answers are those of the HTTP interface; every method throws ApiError. */
export interface Client<R extends object = RecordAnswer> {
  readonly records: RecordsClient<R>
  readonly cells: CellsClient
  readonly runs: RunsClient
  readonly proposals: ProposalsClient<R>
  readonly definition: DefinitionClient
  readonly views: NamedClient<'views'>
  readonly charts: NamedClient<'charts'>
  readonly log: LogClient
  /** Returns the contract; with `derived: false` without derivations, of which a file may be broken. */
  contract(options?: CallOptions & { readonly derived?: boolean }): Promise<ContractAnswer>
  derivations(options?: CallOptions): Promise<DerivationListAnswer>
  /** Returns the permissions of an actor (default: the actor of writes). */
  permissions(actor?: string | null, options?: CallOptions): Promise<PermissionsAnswer>
  /** Returns the state of the derived fields, by field. */
  status(targets?: readonly string[], options?: CallOptions): Promise<StatusAnswer>
  /** The dialect of SQL of the sheet, and a condition as a filter in it. */
  dialect(where?: Condition | null, options?: CallOptions): Promise<DialectAnswer>
  /** Runs one read-only SELECT over `records`. */
  query(sql: string, params?: readonly QueryParam[], options?: QueryOptions): Promise<QueryAnswer>
  /** Iterates over the events of all runs; a lost connection is made again. */
  events(options?: StreamOptions): AsyncGenerator<WireFrame, void, undefined>
  /** Iterates over the state of the sheet, now and after each change. */
  changes(options?: StreamOptions): AsyncGenerator<SheetFrame, void, undefined>
}

/**
 * A client for the server at `baseUrl`, in a browser by default that of the page. It gets the CSRF token by itself, and a
 * new one when the server wants another. `R` is the type of the sheet's records, an interface or a type alias.
 */
export function createClient<R extends object = RecordAnswer>(options: ClientOptions = {}): Client<R> {
  const { baseUrl = '', actor = null, fetch = (...request) => globalThis.fetch(...request) } = options
  const connection = new Connection({ baseUrl, actor, fetch })
  return {
    records: new RecordsClient<R>(connection),
    cells: new CellsClient(connection),
    runs: new RunsClient(connection),
    proposals: new ProposalsClient<R>(connection),
    definition: new DefinitionClient(connection),
    views: new NamedClient(connection, 'views'),
    charts: new NamedClient(connection, 'charts'),
    log: new LogClient(connection),
    contract: ({ derived, ...call } = {}) => connection.get('/api/contract', { derived }, call),
    derivations: (call) => connection.get('/api/derivations', {}, call),
    permissions: (who, call) => connection.get('/api/permissions', { actor: who ?? actor }, call),
    status: (targets, call) => connection.get('/api/status', { targets }, call),
    dialect: (where, call) => connection.get('/api/sql', { where: jsonText(where) }, call),
    query: (sql, params = [], { columns, ...call } = {}) =>
      connection.ask('/api/query', { sql, params, ...(columns === true ? { columns } : {}) }, call),
    events: (stream) => frames<WireFrame>(connection, '/events', stream),
    changes: (stream) => frames<SheetFrame>(connection, '/api/sheet/events', stream),
  }
}

async function* frames<T>(
  connection: Connection,
  path: string,
  options?: StreamOptions,
): AsyncGenerator<T, void, undefined> {
  for await (const { data } of readEvents(connection, path, options)) yield JSON.parse(data) as T
}
