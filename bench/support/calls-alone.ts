import pLimit from 'p-limit'
import { Agent } from 'undici'

/** How many calls a run makes at a time, unless transport.yaml says otherwise. */
const CONCURRENCY = 8

/** The calls of a run, made by the same HTTP client without anything around it. */
export class CallsAlone {
  readonly #api: string
  readonly #agent = new Agent({ connections: CONCURRENCY, pipelining: 1 })

  constructor(api: string) {
    this.#api = api
  }

  /** Milliseconds that all these calls take together. */
  async time(paths: readonly string[]): Promise<number> {
    const limit = pLimit(CONCURRENCY)
    const start = performance.now()
    await Promise.all(
      paths.map((path) =>
        limit(async () => {
          const { body } = await this.#agent.request({ origin: this.#api, path, method: 'GET' })
          await body.json()
        }),
      ),
    )
    return performance.now() - start
  }

  close(): Promise<void> {
    return this.#agent.close()
  }
}
