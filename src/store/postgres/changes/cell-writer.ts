import { failureGroup } from '../../../errors/failure-group.ts'
import type { RecordKey } from '../../cell-work.ts'
import type { CellFailureNote } from '../../sheet-store.ts'
import type { ClientConnection } from '../database/connection.ts'
import { copyRows, WORTH_COPYING } from '../database/copy-into.ts'
import { FAILED, HASH_PREFIX, type TodoState } from '../../rows/stored-rows.ts'

/** The rows of a cell in the tables. */
export interface CellFacts {
  readonly cell: { readonly hash: Uint8Array | null; readonly mark: number } | null
  readonly todo: { readonly state: TodoState; readonly mark: number; readonly blocked: boolean } | null
  /** A new failure; null leaves the stored failure of the cell unchanged. */
  readonly failure: CellFailureNote | null
}

export interface CellPlace {
  readonly target: number
  readonly record: RecordKey
}

/** Collects changes of cells, and writes them with one statement for each table and operation. */
export class CellWriter {
  readonly #db: ClientConnection
  readonly #cells: (CellPlace & CellFacts)[] = []
  readonly #todos: (CellPlace & CellFacts)[] = []
  /** Pending cells that had no row of `$todo`. */
  readonly #newTodos: (CellPlace & CellFacts)[] = []
  readonly #failures: (CellPlace & CellFacts)[] = []
  readonly #gone: { readonly [table in Table]: CellPlace[] } = { $cell: [], $todo: [], $failure: [] }

  constructor(db: ClientConnection) {
    this.#db = db
  }

  add(before: CellFacts, now: CellFacts & CellPlace): void {
    if (now.cell === null) {
      if (before.cell !== null) this.#gone.$cell.push(now)
    } else if (now.cell.mark !== before.cell?.mark || now.cell.hash !== before.cell.hash) {
      this.#cells.push(now)
    }
    if (now.todo === null) {
      if (before.todo !== null) this.#gone.$todo.push(now)
    } else if (before.todo === null) {
      this.#newTodos.push(now)
    } else if (
      now.todo.mark !== before.todo.mark ||
      now.todo.state !== before.todo.state ||
      now.todo.blocked !== before.todo.blocked
    ) {
      this.#todos.push(now)
    }
    if (now.failure !== null) this.#failures.push(now)
    else if (before.todo?.state === FAILED && now.todo?.state !== FAILED) this.#gone.$failure.push(now)
  }

  async write(): Promise<void> {
    for (const table of ['$cell', '$todo', '$failure'] as const) await this.#delete(table)
    if (this.#cells.length > 0) await this.#putCells()
    if (this.#newTodos.length >= WORTH_COPYING) await this.#copyTodos()
    else this.#todos.push(...this.#newTodos)
    if (this.#todos.length > 0) await this.#putTodos()
    if (this.#failures.length > 0) await this.#putFailures()
  }

  async #delete(table: Table): Promise<void> {
    const gone = this.#gone[table]
    if (gone.length === 0) return
    await this.#db.run(
      `DELETE FROM "${table}" AS old USING unnest($1::integer[], $2::bigint[]) AS gone(target, record)
       WHERE old.target = gone.target AND old.record = gone.record`,
      ...places(gone),
    )
  }

  async #putCells(): Promise<void> {
    await this.#db.run(
      `INSERT INTO "$cell" (target, record, hash, mark)
       SELECT target, record, decode(hash, 'hex'), mark
       FROM unnest($1::integer[], $2::bigint[], $3::text[], $4::bigint[]) AS new(target, record, hash, mark)
       ON CONFLICT (target, record) DO UPDATE SET hash = excluded.hash, mark = excluded.mark`,
      ...places(this.#cells),
      this.#cells.map(({ cell }) => (cell?.hash ? Buffer.from(cell.hash).toString('hex') : null)),
      this.#cells.map(({ cell }) => cell?.mark ?? 0),
    )
  }

  #copyTodos(): Promise<void> {
    const rows = this.#newTodos
      .values()
      .map(({ target, record, todo }) => [
        String(target),
        String(record),
        String(todo?.state),
        String(todo?.mark),
        String(todo?.blocked),
      ])
    const columns = ['target', 'record', 'state', 'mark', 'blocked']
    return copyRows(this.#db, { table: '$todo', columns }, rows)
  }

  async #putTodos(): Promise<void> {
    await this.#db.run(
      `INSERT INTO "$todo" (target, record, state, mark, blocked)
       SELECT * FROM unnest($1::integer[], $2::bigint[], $3::smallint[], $4::bigint[], $5::boolean[])
       ON CONFLICT (target, record) DO UPDATE
       SET state = excluded.state, mark = excluded.mark, blocked = excluded.blocked`,
      ...places(this.#todos),
      this.#todos.map(({ todo }) => todo?.state ?? null),
      this.#todos.map(({ todo }) => todo?.mark ?? 0),
      this.#todos.map(({ todo }) => String(todo?.blocked ?? false)),
    )
  }

  async #putFailures(): Promise<void> {
    await this.#db.run(
      `INSERT INTO "$failure" (target, record, error, detail, alike, error_type, reason, response_body, at, hash)
       SELECT target, record, error, detail, alike, error_type, reason, response_body, at, decode(hash, 'hex')
       FROM unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
         AS new(target, record, error, detail, alike, error_type, reason, response_body, at, hash)
       ON CONFLICT (target, record) DO UPDATE SET error = excluded.error, detail = excluded.detail, alike = excluded.alike, error_type = excluded.error_type,
         reason = excluded.reason, response_body = excluded.response_body, at = excluded.at, hash = excluded.hash`,
      ...places(this.#failures),
      this.#failures.map(({ failure }) => failure?.error ?? ''),
      this.#failures.map(({ failure }) => failure?.detail ?? null),
      this.#failures.map(({ failure }) => (failure === null ? null : failureGroup(failure))),
      this.#failures.map(({ failure }) => failure?.errorType ?? ''),
      this.#failures.map(({ failure }) => failure?.reason ?? null),
      this.#failures.map(({ failure }) => failure?.responseBody ?? null),
      this.#failures.map(({ failure }) => failure?.at ?? ''),
      this.#failures.map(({ failure }) => failure?.inputHash?.slice(HASH_PREFIX.length) ?? null),
    )
  }
}

type Table = '$cell' | '$todo' | '$failure'

function places(cells: readonly CellPlace[]): [readonly number[], readonly number[]] {
  return [cells.map(({ target }) => target), cells.map(({ record }) => record)]
}
