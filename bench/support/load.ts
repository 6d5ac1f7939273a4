import autocannon from 'autocannon'

export interface Load {
  readonly url: string
  readonly seconds: number
  readonly connections?: number
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  /** Path and body of each request; called for every one. */
  next?(): { readonly path: string; readonly body?: string }
}

/** Sends requests as fast as they are answered, from 64 connections; answers with requests per second. */
export async function requestsPerSecond(load: Load): Promise<number> {
  const { url, seconds, connections = 64, method = 'GET', headers = {}, next } = load
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    method,
    headers,
    ...(next === undefined
      ? {}
      : { requests: [{ setupRequest: (request: autocannon.Request) => ({ ...request, ...next() }) }] }),
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} answers that are no success, ${result.errors} errors`)
  }
  return result.requests.total / result.duration
}

/** Runs two measurements in turn, A B A B …, and answers with the medians and the median of the ratios A/B. */
export async function compare(
  rounds: number,
  ours: () => Promise<number>,
  reference: () => Promise<number>,
): Promise<Comparison> {
  const pairs: { ours: number; reference: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({ ours: await ours(), reference: await reference() })
  }
  return {
    ours: median(pairs.map((pair) => pair.ours)),
    reference: median(pairs.map((pair) => pair.reference)),
    ratio: median(pairs.map((pair) => pair.ours / pair.reference)),
  }
}

export interface Comparison {
  readonly ours: number
  readonly reference: number
  readonly ratio: number
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
