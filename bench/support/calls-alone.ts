import pLimit from 'p-limit'
import { Agent } from 'undici'

/** The default concurrency of a run. */
export const CALLS_AT_A_TIME = 8

/** The calls of a run, made by the same HTTP client alone. */
export class CallsAlone {
  readonly #api: string
  readonly #agent = new Agent({ connections: CALLS_AT_A_TIME, pipelining: 1 })

  constructor(api: string) {
    this.#api = api
  }

  /** Returns the milliseconds that all these calls take together. */
  async time(paths: readonly string[]): Promise<number> {
    const limit = pLimit(CALLS_AT_A_TIME)
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
