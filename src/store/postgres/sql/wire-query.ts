import type { FieldDef, Submittable, Connection as WireConnection } from 'pg'

/** A value of a column in PostgreSQL's text format. */
export type ColumnText = string | null

/** A parameter of a statement: its text, and the OID of its type; 0 leaves the type to the statement. */
export interface TypedParam {
  readonly text: string | null
  readonly type: number
}

/** The messages of the extended protocol that node-postgres can send. */
interface Wire {
  parse(message: { name: string; text: string; types: readonly number[] }): void
  bind(message: { portal: string; statement: string; values: readonly ColumnText[] }): void
  describe(message: { type: 'S' | 'P'; name: string }): void
  execute(message: { portal: string; rows: number }): void
  sync(): void
}

/**
 * Implements what node-postgres calls while it runs a query. Only the extended protocol is used, in which a text is at most
 * one statement: the simple protocol would run every statement in it.
 */
abstract class WireQuery<T> implements Submittable {
  readonly done: Promise<T>
  readonly #resolve: (result: T) => void
  readonly #reject: (error: unknown) => void
  #error: unknown = null

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.done = promise
    this.#resolve = resolve
    this.#reject = reject
  }

  submit = (connection: WireConnection): void => {
    const wire = connection as unknown as Wire
    // Sends all messages in one packet.
    connection.stream.cork()
    this.send(wire)
    wire.sync()
    connection.stream.uncork()
  }

  handleRowDescription(_message: { readonly fields: readonly FieldDef[] }): void {}

  handleDataRow(_message: { readonly fields: readonly ColumnText[] }): void {}

  handlePortalSuspended(): void {}

  handleCommandComplete(): void {}

  handleEmptyQuery(): void {}

  handleCopyInResponse(): void {
    this.fail(new Error('a query cannot copy'))
  }

  handleCopyData(): void {}

  handleError(error: unknown): void {
    this.fail(error)
    this.#reject(this.#error)
  }

  handleReadyForQuery(): void {
    if (this.#error === null) this.#resolve(this.result())
    else this.#reject(this.#error)
  }

  /** Notes the first error; the result settles only when the connection can be used again. */
  protected fail(error: unknown): void {
    this.#error ??= error
  }

  protected get failed(): boolean {
    return this.#error !== null
  }

  protected abstract send(wire: Wire): void
  protected abstract result(): T
}

/** Parses a statement, to be run by {@link RunParsed}; results in its columns. */
export class ParseStatement extends WireQuery<readonly FieldDef[]> {
  readonly #text: string
  readonly #types: readonly number[]
  #fields: readonly FieldDef[] = []

  constructor(text: string, types: readonly number[]) {
    super()
    this.#text = text
    this.#types = types
  }

  override handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#fields = fields
  }

  protected override send(wire: Wire): void {
    wire.parse({ name: '', text: this.#text, types: this.#types })
    wire.describe({ type: 'S', name: '' })
  }

  protected override result(): readonly FieldDef[] {
    return this.#fields
  }
}

export interface ParsedRun {
  readonly values: readonly ColumnText[]
  /** The most rows; 0 for all. */
  readonly rows: number
  /** Receives each row as it arrives. The query fails with what it throws. */
  onRow(row: readonly ColumnText[]): void
}

/** Runs the statement that {@link ParseStatement} parsed last, or parses one first, in the same round trip. */
export class RunParsed extends WireQuery<void> {
  readonly #run: ParsedRun
  readonly #statement: { readonly text: string; readonly types: readonly number[] } | null

  constructor(
    run: ParsedRun,
    statement: { readonly text: string; readonly types: readonly number[] } | null = null,
  ) {
    super()
    this.#run = run
    this.#statement = statement
  }

  override handleDataRow({ fields }: { readonly fields: readonly ColumnText[] }): void {
    if (this.failed) return
    try {
      this.#run.onRow(fields)
    } catch (error) {
      this.fail(error)
    }
  }

  protected override send(wire: Wire): void {
    if (this.#statement !== null) wire.parse({ name: '', ...this.#statement })
    wire.bind({ portal: '', statement: '', values: this.#run.values })
    wire.execute({ portal: '', rows: this.#run.rows })
  }

  protected override result(): void {}
}
