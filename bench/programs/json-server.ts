import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { wholeRecord } from '../support/bench-sheet.ts'
import { nodeCommand, startServerAt } from '../support/processes.ts'
import type { Program } from '../support/program.ts'

const SCRIPT = new URL(import.meta.resolve('json-server/lib/cli/bin.js'))

/** REST over a JSON file. It keeps all records in memory, and rewrites the whole file for every change. */
export const jsonServer: Program = {
  name: 'json-server',
  async prepare(sheets, records) {
    const file = join(sheets.directory('json-server'), 'db.json')
    writeFile(file, records)
    return {
      start: () =>
        startServerAt((port) =>
          nodeCommand(SCRIPT, ['--host', '127.0.0.1', '--port', String(port), '--quiet', file]),
        ),
      recordPath: (id) => `/records/${id}`,
      pagePath: (page) => `/records?_limit=50&_page=${page + 1}`,
      write: (id, count) => ({
        method: 'PATCH',
        path: `/records/${id}`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ count }),
      }),
    }
  },
}

function writeFile(path: string, records: number): void {
  const fd = openSync(path, 'w')
  writeSync(fd, '{"records":[')
  for (let number = 1; number <= records; number += 1) {
    writeSync(fd, `${number === 1 ? '' : ',\n'}${JSON.stringify(wholeRecord(number))}`)
  }
  writeSync(fd, ']}')
  closeSync(fd)
}
