import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** Creates a table `reference` for records like this one, with a unique id and no other constraint. */
export async function createReference(client: Client, record: Record<string, unknown>): Promise<void> {
  const columns = Object.entries(record).map(([name, value]) => `${name} ${columnType(name, value)}`)
  await client.query(
    `DROP TABLE IF EXISTS reference; CREATE TABLE reference (${columns.join(', ')}, UNIQUE (id))`,
  )
}

/** Inserts rows by COPY, in one transaction. */
export async function copyRows(
  client: Client,
  names: readonly string[],
  rows: Iterable<string>,
): Promise<void> {
  const stream = client.query(copyFrom(`COPY reference (${names.join(', ')}) FROM STDIN`))
  const done = finished(stream)
  let waiting = ''
  for (const row of rows) {
    waiting += row
    if (waiting.length < 1 << 18) continue
    if (!stream.write(waiting)) await Promise.race([once(stream, 'drain'), done])
    waiting = ''
  }
  stream.end(waiting)
  await done
}

/** Returns a record as a line of COPY. */
export function copyRow(names: readonly string[], record: Record<string, unknown>): string {
  return `${names.map((name) => copyValue(record[name])).join('\t')}\n`
}

function copyValue(value: unknown): string {
  if (value === undefined || value === null) return '\\N'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.replace(/[\\\t\n\r]/g, (character) => `\\${character}`)
}

/** Returns the type of the field's column in a store. */
function columnType(name: string, value: unknown): string {
  if (name === 'day') return 'date'
  if (name === 'count') return 'bigint'
  if (typeof value === 'number') return 'numeric'
  if (typeof value === 'boolean') return 'boolean'
  return Array.isArray(value) ? 'jsonb' : 'text COLLATE "C"'
}
