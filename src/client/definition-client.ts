import type { ChangeAnswer, DefinitionChangeAnswer, HistoryAnswer } from '../wire/definition/change.ts'
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

export interface HistoryPage {
  readonly limit?: number | undefined
  /** A `next_cursor` of the history. */
  readonly cursor?: string | null | undefined
}

/** The texts of derivation files, and the changes of the definition: `/api/derivations/{file}` and `/api/definition`. */
export class DefinitionClient {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns the text of a derivation file with its version, also of one that is not valid. */
  read(file: string, options?: CallOptions): Promise<DerivationFileAnswer> {
    return this.#connection.get(pathOf(file), {}, options)
  }

  /** Adds or replaces a derivation file. */
  write(
    file: string,
    text: string,
    { note, ...options }: FileChangeOptions & { readonly note?: string | undefined } = {},
  ): Promise<DefinitionChangeAnswer> {
    return this.#connection.writeAs(pathOf(file), { text, note }, options, sendingOf('PUT', options))
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
    options: ChangeOptions = {},
  ): Promise<DefinitionChangeAnswer> {
    return this.#connection.writeAs(
      '/api/definition/revert',
      { change, confirm },
      options,
      sendingOf('POST', options),
    )
  }
}

function pathOf(file: string): string {
  return `/api/derivations/${encodeURIComponent(file)}`
}

/** The version is hex, so its tag needs only quotes. */
function sendingOf<M extends 'POST' | 'PUT' | 'DELETE'>(
  method: M,
  { dryRun = false, ifVersion = null }: FileChangeOptions,
): { method: M; query: Readonly<Record<string, true>>; headers: Readonly<Record<string, string>> } {
  return {
    method,
    query: dryRun ? { dry_run: true } : {},
    headers: ifVersion === null ? {} : { 'if-match': `"${ifVersion}"` },
  }
}
