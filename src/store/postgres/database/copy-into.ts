import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { from as copyFrom } from 'pg-copy-streams'
import type { ClientConnection } from './connection.ts'
import { quoted } from './schema.ts'

/** Characters that are collected before they are sent. */
const CHUNK = 1 << 17

/** Bytes that may be on their way: as long as there are any, PostgreSQL has something to do while rows are made. */
const UNDER_WAY = 1 << 23

/** Rows on their way into a table, by `COPY`; they are there once {@link end} is done. */
export class TableCopy {
  readonly #stream: ReturnType<typeof copyFrom>
  readonly #done: Promise<void>
  #waiting = ''

  /** `columns` as SQL has them. */
  constructor({ client }: ClientConnection, table: string, columns: readonly string[]) {
    this.#stream = client.query(
      copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN`, { highWaterMark: UNDER_WAY }),
    )
    this.#done = finished(this.#stream)
    // Told by `add` or `end`, whichever is waited for next.
    this.#done.catch(() => undefined)
  }

  /** Adds a row, whose values are texts as PostgreSQL reads them. Throws what is wrong with rows before it. */
  async add(values: readonly (string | null)[]): Promise<void> {
    this.#waiting += `${values.map(copyText).join('\t')}\n`
    if (this.#waiting.length < CHUNK) return
    const more = this.#stream.write(this.#waiting)
    this.#waiting = ''
    // The socket takes what fits into it, and more whenever it has its turn.
    await (more ? nextTurn() : Promise.race([once(this.#stream, 'drain'), this.#done]))
  }

  async end(): Promise<void> {
    this.#stream.end(this.#waiting)
    await this.#done
  }
}

/** From so many rows on COPY is quicker than a statement, which it takes a round trip more than. */
export const WORTH_COPYING = 1000

/** Copies rows into a table; values are texts as PostgreSQL reads them. */
export async function copyRows(
  db: ClientConnection,
  { table, columns }: { readonly table: string; readonly columns: readonly string[] },
  rows: Iterable<readonly (string | null)[]>,
): Promise<void> {
  const copy = new TableCopy(db, quoted(table), columns.map(quoted))
  try {
    for (const row of rows) await copy.add(row)
  } finally {
    // Whatever happens: nothing else can be asked of the connection before.
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
