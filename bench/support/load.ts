import autocannon from 'autocannon'
import { request } from 'undici'

export interface Load {
  readonly url: string
  readonly seconds: number
  readonly connections?: number
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  /** Returns path and body of a request; called for every one. */
  next(): { readonly path: string; readonly body?: string }
}

/** Sends requests as fast as their responses arrive, from 64 connections; returns requests per second. */
export async function requestsPerSecond(load: Load): Promise<number> {
  const { url, seconds, connections = 64, method = 'GET', headers = {}, next } = load
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    // A measurement ends with a sample.
    sampleInt: Math.min(1000, seconds * 1000),
    method,
    headers,
    requests: [{ setupRequest: (one: autocannon.Request) => ({ ...one, ...next() }) }],
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} answers that are no success, ${result.errors} errors`)
  }
  // Only for a very short measurement, as in the smoke test.
  if (result.requests.total === 0) return requestsPerSecond({ ...load, seconds: 2 * seconds })
  return result.requests.total / result.duration
}

/** Requests one path after the other over one connection; returns the milliseconds of each. */
export async function timeRequests(url: string, paths: readonly string[]): Promise<number[]> {
  const times: number[] = []
  for (const path of paths) {
    const start = performance.now()
    await getText(url + path)
    times.push(performance.now() - start)
  }
  return times
}

/** Returns the body of a response. Throws if it is not a success. */
export async function getText(url: string): Promise<string> {
  const { statusCode, body } = await request(url)
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`${url} -> ${statusCode}: ${text.slice(0, 300)}`)
  return text
}

/** Runs two measurements in turn, A B A B …, and returns the medians and the median of the ratios A/B. */
export async function compare(
  rounds: number,
  ours: () => Promise<number>,
  reference: () => Promise<number>,
): Promise<Comparison> {
  const pairs: { ours: number; theirs: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({ ours: await ours(), theirs: await reference() })
  }
  return {
    ours: median(pairs.map((pair) => pair.ours)),
    theirs: median(pairs.map((pair) => pair.theirs)),
    ratio: median(pairs.map((pair) => pair.ours / pair.theirs)),
  }
}

export interface Comparison {
  readonly ours: number
  readonly theirs: number
  readonly ratio: number
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Returns the value that this share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** Returns numbers from 1 to `most`, in a scattered order that is the same each time. */
export function scattered(most: number): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return (state % most) + 1
  }
}
