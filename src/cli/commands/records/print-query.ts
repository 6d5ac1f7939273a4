import { text } from 'node:stream/consumers'
import { runQuery } from '../../../sheet/queries/run-query.ts'
import type { QueryAnswer } from '../../../wire/records/query.ts'
import type { CommandContext } from '../../options/command-context.ts'

export interface Query {
  /** The statement; `-` reads it from standard input. */
  readonly sql: string
  readonly params: readonly (string | number | boolean | null)[]
}

/** Prints the rows of a query. Throws as {@link runQuery} does. */
export async function printQuery({ sheet, out }: CommandContext, { sql, params }: Query): Promise<void> {
  const statement = sql === '-' ? await text(process.stdin) : sql
  const isTable = out.format === 'table'
  const json = await runQuery(sheet, { sql: statement, params, columns: isTable })
  if (out.format === 'json' && !out.isTerminal) return out.write(Buffer.concat([json, Buffer.from('\n')]))
  const answer = JSON.parse(Buffer.from(json).toString()) as QueryAnswer
  if (out.format === 'json') {
    await out.print(answer, () => '')
  } else {
    await out.printList([answer.rows], {
      columns: (answer.columns ?? []).map((name) => ({ header: name, value: (row) => row[name] })),
      none: 'no rows',
    })
    if (answer.truncated) out.note(`Only the first ${answer.count} rows; --query-rows allows more.`)
  }
}
