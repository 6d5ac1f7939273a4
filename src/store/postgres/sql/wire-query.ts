import type { FieldDef, Submittable, Connection as WireConnection } from 'pg'

/** A value of a column as PostgreSQL writes it. */
export type ColumnText = string | null

/** A parameter of a statement: its text, and the number of its type; 0 leaves the type to the statement. */
export interface TypedParam {
  readonly text: string | null
  readonly type: number
}

/** The messages of the extended protocol, as much of them as node-postgres can send. */
interface Wire {
  parse(message: { name: string; text: string; types: readonly number[] }): void
  bind(message: { portal: string; statement: string; values: readonly ColumnText[] }): void
  describe(message: { type: 'S' | 'P'; name: string }): void
  execute(message: { portal: string; rows: number }): void
  sync(): void
}

/**
 * What node-postgres calls while it carries out a query. Only the extended protocol is ever spoken, so that a text is one
 * statement or none: the other would run every statement in it.
 */
abstract class WireQuery<T> implements Submittable {
  readonly answer: Promise<T>
  readonly #resolve: (answer: T) => void
  readonly #reject: (error: unknown) => void
  #fault: unknown = null

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.answer = promise
    this.#resolve = resolve
    this.#reject = reject
  }

  submit = (connection: WireConnection): void => {
    const wire = connection as unknown as Wire
    // Together in one packet.
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
    this.#reject(this.#fault)
  }

  handleReadyForQuery(): void {
    if (this.#fault === null) this.#resolve(this.result())
    else this.#reject(this.#fault)
  }

  /** Takes note of what went wrong first; the answer is not settled before the connection can be used again. */
  protected fail(error: unknown): void {
    this.#fault ??= error
  }

  protected get failed(): boolean {
    return this.#fault !== null
  }

  protected abstract send(wire: Wire): void
  protected abstract result(): T
}

/** Has a statement parsed, to be run by {@link RunParsed}; answers with its columns. */
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
  /** So many rows at most; 0 for all. */
  readonly rows: number
  /** Gets each row as it comes. What it throws is what the query fails with. */
  onRow(row: readonly ColumnText[]): void
}

/** Runs the statement that {@link ParseStatement} had parsed last, or has one parsed first, in the same round trip. */
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
