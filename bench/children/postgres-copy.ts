import { linesOf } from '../support/lines-of.ts'
import { copyRow, copyRows, createReference } from '../support/postgres-reference.ts'
import { connectTo } from '../support/postgres-sheets.ts'

/** The reference for imports: parses each line of a file, and copies it into a new table, all in one transaction. */
const [records = '', url = '', like = ''] = process.argv.slice(2)
const record = JSON.parse(like) as Record<string, unknown>
const names = Object.keys(record)
const client = await connectTo(url)
await client.query('BEGIN')
await createReference(client, record)
await copyRows(
  client,
  names,
  linesOf(records).map((line) => copyRow(names, JSON.parse(line) as Record<string, unknown>)),
)
await client.query('COMMIT')
await client.end()
