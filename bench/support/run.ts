const TOKEN = 'b'.repeat(43)

/** What a run came to, and how long its answer took. */
export interface TimedRun {
  readonly materialized: number
  readonly skipped: number
  readonly milliseconds: number
}

/** Runs derivations of a served sheet. Throws when it is refused. */
export async function timeRun(url: string, request: object): Promise<TimedRun> {
  const start = performance.now()
  const answer = await fetch(`${url}/api/materialize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': TOKEN, cookie: `svc_csrf=${TOKEN}` },
    body: JSON.stringify(request),
  })
  const text = await answer.text()
  const milliseconds = performance.now() - start
  if (!answer.ok) throw new Error(`the run was refused: ${text.slice(0, 300)}`)
  const { materialized, skipped } = JSON.parse(text) as { materialized: number; skipped: number }
  return { materialized, skipped, milliseconds }
}
