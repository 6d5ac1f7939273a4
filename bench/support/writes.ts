import { request } from 'undici'

const TOKEN = 'b'.repeat(43)

/** Headers of every write. */
export const WRITE_HEADERS = {
  'content-type': 'application/json',
  'x-csrf-token': TOKEN,
  cookie: `svc_csrf=${TOKEN}`,
}

/** Returns the body of an upsert. */
export function upsertBody(records: readonly object[]): Buffer {
  return Buffer.from(JSON.stringify({ records }))
}

/** Upserts records into a served sheet. Throws if they are refused. */
export async function postRecords(url: string, body: Buffer): Promise<void> {
  await post(`${url}/api/records`, body)
}

/** The result of a run, and the duration of its request. */
export interface TimedRun {
  readonly materialized: number
  readonly skipped: number
  readonly milliseconds: number
}

/** Runs derivations of a served sheet. Throws if the run is refused. */
export async function timeRun(url: string, asked: object): Promise<TimedRun> {
  const start = performance.now()
  const text = await post(`${url}/api/materialize`, Buffer.from(JSON.stringify(asked)))
  const milliseconds = performance.now() - start
  const { materialized, skipped } = JSON.parse(text) as { materialized: number; skipped: number }
  return { materialized, skipped, milliseconds }
}

/** Runs derivations, and throws unless exactly this many cells are computed. */
export async function computeCells(url: string, asked: object, cells: number): Promise<TimedRun> {
  const run = await timeRun(url, asked)
  if (run.materialized !== cells) throw new Error(`${run.materialized} cells were computed, not ${cells}`)
  return run
}

async function post(url: string, body: Buffer): Promise<string> {
  // Without time limits for the run.
  const options = { method: 'POST', headers: WRITE_HEADERS, body, headersTimeout: 0, bodyTimeout: 0 } as const
  const answer = await request(url, options)
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`${url} -> ${answer.statusCode}: ${text.slice(0, 300)}`)
  return text
}
