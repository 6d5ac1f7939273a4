import { serveSheet } from '../support/processes.ts'
import type { Program } from '../support/program.ts'
import { WRITE_HEADERS } from '../support/writes.ts'

export const colophon: Program = {
  name: 'Colophon',
  async prepare(sheets, records) {
    const directory = await sheets.copy(records)
    return {
      start: () => serveSheet(directory),
      recordPath: (id) => `/api/records/${id}`,
      pagePath: (page) => `/api/records?limit=50&position=${page * 50}`,
      write: (id, count) => ({
        method: 'POST',
        path: '/api/records',
        headers: WRITE_HEADERS,
        body: JSON.stringify({ records: [{ id, count }] }),
      }),
    }
  },
}
