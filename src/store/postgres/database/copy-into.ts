import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { from as copyFrom } from 'pg-copy-streams'
import type { ClientConnection } from './connection.ts'
import { quoted } from './schema.ts'

/** Characters that are buffered before they are sent. */
const CHUNK = 1 << 15

/** Bytes that may be in transit: with any, PostgreSQL works while rows are made. */
const UNDER_WAY = 1 << 23

/** Copies rows into a table with `COPY`; they are stored when {@link end} resolves. */
export class TableCopy {
  readonly #stream: ReturnType<typeof copyFrom>
  readonly #done: Promise<void>
  #waiting = ''

  /** `columns` are SQL. */
  constructor({ client }: ClientConnection, table: string, columns: readonly string[]) {
    this.#stream = client.query(
      copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN`, { highWaterMark: UNDER_WAY }),
    )
    this.#done = finished(this.#stream)
    // `add` or `end` reports the error, whichever is called next.
    this.#done.catch(() => undefined)
  }

  /** Adds a row, whose values are in PostgreSQL's text format. Throws errors of earlier rows. */
  async add(values: readonly (string | null)[]): Promise<void> {
    this.#waiting += `${values.map(copyText).join('\t')}\n`
    if (this.#waiting.length < CHUNK) return
    const more = this.#stream.write(this.#waiting)
    this.#waiting = ''
    // The socket takes what fits into it, and more in later turns of the event loop.
    await (more ? nextTurn() : Promise.race([once(this.#stream, 'drain'), this.#done]))
  }

  async end(): Promise<void> {
    this.#stream.end(this.#waiting)
    await this.#done
  }
}

/** Rows from which COPY is faster than a statement, although it takes one more round trip. */
export const WORTH_COPYING = 1000

/** Copies rows into a table; values are in PostgreSQL's text format. */
export async function copyRows(
  db: ClientConnection,
  { table, columns }: { readonly table: string; readonly columns: readonly string[] },
  rows: Iterable<readonly (string | null)[]>,
): Promise<void> {
  const copy = new TableCopy(db, quoted(table), columns.map(quoted))
  try {
    for (const row of rows) await copy.add(row)
  } finally {
    // Always, since the connection takes no other query before.
    await copy.end()
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function copyText(value: string | null): string {
  if (value === null) return '\\N'
  return /[\\\t\n\r]/.test(value)
    ? value.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '')
    : value
}
