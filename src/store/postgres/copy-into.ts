import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import type { ClientConnection } from './connection.ts'

/** Characters that are collected before they are sent. */
const CHUNK = 1 << 18

/** Rows on their way into a table, by `COPY`; they are there once {@link end} is done. */
export class TableCopy {
  readonly #stream: ReturnType<typeof copyFrom>
  readonly #done: Promise<void>
  #waiting = ''

  /** `columns` as SQL has them. */
  constructor({ client }: ClientConnection, table: string, columns: readonly string[]) {
    this.#stream = client.query(copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN`))
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
    if (!more) await Promise.race([once(this.#stream, 'drain'), this.#done])
  }

  async end(): Promise<void> {
    this.#stream.end(this.#waiting)
    await this.#done
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function copyText(value: string | null): string {
  if (value === null) return '\\N'
  return /[\\\t\n\r]/.test(value)
    ? value.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '')
    : value
}
