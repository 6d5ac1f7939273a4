import type { Static } from 'typebox'
import type {
  ChangeAnswer,
  DefinitionChangeAnswer,
  HistoryAnswer,
  PutDerivationAnswer,
} from '../wire/definition/change.ts'
import type {
  AddPropertyBody,
  ChangePropertyBody,
  ContractChangeAnswer,
  PutContractBody,
} from '../wire/definition/contract-changes.ts'
import type { ContractAnswer } from '../wire/definition/contract.ts'
import type { PreviewAnswer, PreviewBody } from '../wire/definition/preview.ts'
import type { DerivationFileAnswer } from '../wire/definition/derivations.ts'
import type { ActorOptions, CallOptions, Connection } from './connection.ts'

/** Options of a change of the definition. */
export interface ChangeOptions extends ActorOptions {
  /** Whether nothing is changed, and the response says what the change would do. */
  readonly dryRun?: boolean | undefined
}

/** Options of a change of one file. */
export interface FileChangeOptions extends ChangeOptions {
  /** The `version` that the file must still have; otherwise ApiError with status 412. */
  readonly ifVersion?: string | null | undefined
}

/** Options of a change of a derivation file. */
export interface WriteOptions extends FileChangeOptions {
  readonly note?: string | undefined
  readonly keepFresh?: boolean | undefined
  /** Whether there must be no such file yet; otherwise ApiError with status 412. */
  readonly ifAbsent?: boolean | undefined
}

/** A derivation to try, and the records. */
export type PreviewOrder = Omit<Static<typeof PreviewBody>, 'actor'>

/** A field to add. */
export type NewField = Omit<Static<typeof AddPropertyBody>, 'actor'>

/** Another name, type or other settings of a field. */
export type FieldChange = Omit<Static<typeof ChangePropertyBody>, 'actor'>

/** A whole contract, as `text` or as `document`, with the changes of fields that it asks for. */
export type NewContract = Omit<Static<typeof PutContractBody>, 'actor'>

/** The contract, or with `dryRun` what would change. */
export type FieldAnswer<O extends ChangeOptions> = O extends { readonly dryRun: true }
  ? ContractChangeAnswer
  : O extends { readonly dryRun?: false | undefined }
    ? ContractAnswer
    : ContractAnswer | ContractChangeAnswer

/** The contract with its version, for a conditional change. */
export interface VersionedContract {
  readonly contract: ContractAnswer
  /** The `version` of `contract.yaml`, for `ifVersion`. */
  readonly version: string
}

export interface HistoryPage {
  readonly limit?: number | undefined
  /** A `next_cursor` of the history. */
  readonly cursor?: string | null | undefined
}

/**
 * The texts of derivation files, the fields of the contract, and the changes of both: `/api/derivations/{file}`, `/api/contract` and
 * `/api/definition`.
 */
export class DefinitionClient {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns the text of a derivation file with its version, also of one that is not valid. */
  read(file: string, options?: CallOptions): Promise<DerivationFileAnswer> {
    return this.#connection.get(pathOf(file), {}, options)
  }

  /** Adds or replaces a derivation file. With `keepFresh` its values are marked as fresh, for an edit that changes no value. */
  write(
    file: string,
    text: string,
    { note, keepFresh = false, ifAbsent = false, ...options }: WriteOptions = {},
  ): Promise<Static<typeof PutDerivationAnswer>> {
    const { query, method, headers } = sendingOf('PUT', options)
    const sending = { method, headers: ifAbsent ? { ...headers, 'if-none-match': '*' } : headers }
    const kept = keepFresh ? { ...query, keep: 'fresh' } : query
    return this.#connection.writeAs(pathOf(file), { text, note }, options, { ...sending, query: kept })
  }

  /** Tries a derivation on a few records; stores no cell, and a run with the same file does not pay for the calls again. */
  preview(order: PreviewOrder, options?: ActorOptions): Promise<PreviewAnswer> {
    return this.#connection.writeAs('/api/derivations/preview', order, options)
  }

  /** Removes a derivation file; its targets become ordinary fields and keep their values. */
  remove(
    file: string,
    { actor, signal, ...options }: FileChangeOptions = {},
  ): Promise<DefinitionChangeAnswer> {
    const { query, headers } = sendingOf('DELETE', options)
    const named = { ...headers, ...this.#connection.actorHeader(actor) }
    return this.#connection.write('DELETE', pathOf(file), { query, headers: named, signal })
  }

  /** Returns the contract with its version. */
  async readContract({ signal }: CallOptions = {}): Promise<VersionedContract> {
    const response = await this.#connection.request('GET', '/api/contract', { signal })
    const [, version = ''] = /"([0-9a-f]+)/.exec(response.headers.get('etag') ?? '') ?? []
    return { contract: (await response.json()) as ContractAnswer, version }
  }

  /** Returns the text of `contract.yaml` with its version, also when it is not valid. */
  readContractText(options?: CallOptions): Promise<DerivationFileAnswer> {
    return this.#connection.get('/api/contract/text', {}, options)
  }

  /** Replaces the contract: by `renamed` fields get other names, and those that are absent are removed. */
  writeContract(contract: NewContract, options: FileChangeOptions = {}): Promise<ContractChangeAnswer> {
    return this.#connection.writeAs('/api/contract', contract, options, sendingOf('PUT', options))
  }

  /** Adds a field at the end of the contract. */
  addField<const O extends FileChangeOptions = object>(
    field: NewField,
    options?: O,
  ): Promise<FieldAnswer<O>> {
    return this.#connection.writeAs(PROPERTIES, field, options, sendingOf('POST', options ?? {}))
  }

  /** Changes a field. With `new_name` the derivations that name it are edited; with `logicalType` its values are converted. */
  changeField<const O extends FileChangeOptions = object>(
    name: string,
    change: FieldChange,
    options?: O,
  ): Promise<FieldAnswer<O>> {
    return this.#connection.writeAs(fieldPathOf(name), change, options, sendingOf('PATCH', options ?? {}))
  }

  /** Removes a field. `confirm` is the number of its values, which may be lost. */
  removeField<const O extends FileChangeOptions = object>(
    name: string,
    confirm: number | null = null,
    options?: O,
  ): Promise<FieldAnswer<O>> {
    const { actor, signal, ...rest }: FileChangeOptions = options ?? {}
    const { query, headers } = sendingOf('DELETE', rest)
    return this.#connection.write('DELETE', fieldPathOf(name), {
      query: { ...query, confirm },
      headers: { ...headers, ...this.#connection.actorHeader(actor) },
      signal,
    })
  }

  /** Lists the changes of the contract and of derivation files, newest first. */
  history(page: HistoryPage = {}, options?: CallOptions): Promise<HistoryAnswer> {
    return this.#connection.get('/api/definition/history', { ...page }, options)
  }

  /** Returns a change with the texts of its files. */
  change(id: string, options?: CallOptions): Promise<ChangeAnswer> {
    return this.#connection.get(`/api/definition/history/${encodeURIComponent(id)}`, {}, options)
  }

  /** Takes back a change. `confirm` has the number of values that may be lost, by field. */
  revert(
    change: string,
    confirm: Readonly<Record<string, number>> = {},
    { note, ...options }: ChangeOptions & { readonly note?: string | undefined } = {},
  ): Promise<DefinitionChangeAnswer> {
    return this.#connection.writeAs(
      '/api/definition/revert',
      { change, confirm, note },
      options,
      sendingOf('POST', options),
    )
  }
}

const PROPERTIES = '/api/contract/properties'

function fieldPathOf(name: string): string {
  return `${PROPERTIES}/${encodeURIComponent(name)}`
}

function pathOf(file: string): string {
  return `/api/derivations/${encodeURIComponent(file)}`
}

/** The version is hex, so its tag needs only quotes. */
function sendingOf<M extends 'POST' | 'PUT' | 'PATCH' | 'DELETE'>(
  method: M,
  { dryRun = false, ifVersion = null }: FileChangeOptions,
): { method: M; query: Readonly<Record<string, true>>; headers: Readonly<Record<string, string>> } {
  return {
    method,
    query: dryRun ? { dry_run: true } : {},
    headers: ifVersion === null ? {} : { 'if-match': `"${ifVersion}"` },
  }
}
