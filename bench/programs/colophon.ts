import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import type { FieldCount } from '../support/bench-sheet.ts'
import { ORDERS_CONTRACT } from '../support/orders.ts'
import { runProgram, serveSheet } from '../support/processes.ts'
import { groupBySql, type Program, type ProgramRequest } from '../support/program.ts'
import { upsertBody, WRITE_HEADERS } from '../support/writes.ts'

/** Colophon with the sheet of 20 or of 9 fields. */
export function colophon(fields: FieldCount): Program {
  return {
    name: 'Colophon',
    async prepare(sheets, records) {
      const directory = await sheets.copy(records, fields)
      return {
        start: () => serveSheet(directory),
        recordPath: (id) => `/api/records/${id}`,
        pagePath: (page) => `/api/records?limit=50&position=${page * 50}`,
        write: (id, count) => upsert([{ id, count }]),
        filteredPath: ({ customer, atLeast }) => {
          const where = {
            and: [
              { field: 'customer', operator: 'equals', value: customer },
              { field: 'amount', operator: 'at_least', value: atLeast },
            ],
          }
          return `/api/records?limit=50&sort=-amount&where=${encodeURIComponent(JSON.stringify(where))}`
        },
        upsert,
        selectOne: () => query('SELECT 1'),
        groupBy: (turn) => query(groupBySql('records', turn)),
      }
    },
    async importCsv(directory, file) {
      writeFileSync(join(directory, 'contract.yaml'), ORDERS_CONTRACT)
      await runProgram('bin/colophon.js', ['import', directory, file, '--actor', 'agent:bench'])
    },
  }
}

function upsert(records: readonly object[]): ProgramRequest {
  return { method: 'POST', path: '/api/records', headers: WRITE_HEADERS, body: upsertBody(records) }
}

function query(sql: string): ProgramRequest {
  return {
    method: 'POST',
    path: '/api/query',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql }),
  }
}
