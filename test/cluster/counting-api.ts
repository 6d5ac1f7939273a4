import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { startLocalApi, type ApiRequest, type LocalApi } from '../support/local-api.ts'
import type { Cluster } from './cluster.ts'

/** Answers take from nothing to so long. */
const SLOWEST_MS = 30

/** A request for what was asked before. */
export interface Repeat {
  readonly path: string
  readonly caller: string
  /** The earlier callers, in order. */
  readonly before: readonly string[]
  /** Whether its answer was in the log when it came. */
  readonly known: boolean
}

/** An API that counts what each process asks, and at every so many requests holds its answers until something is done. */
export class CountingApi {
  readonly repeats: Repeat[] = []
  readonly api: LocalApi
  requests = 0
  readonly #callers = new Map<string, string[]>()
  readonly #random: () => number
  #cluster: Cluster | null = null
  #next = Infinity
  #onNext: () => Promise<void> = () => Promise.resolve()
  #held: Promise<void> | null = null

  private constructor(api: LocalApi, random: () => number) {
    this.api = api
    this.#random = random
    api.answer('*', async (request) => ({ json: { value: await this.#answer(request) } }))
  }

  static async start(t: TestContext, random: () => number): Promise<CountingApi> {
    return new CountingApi(await startLocalApi(t), random)
  }

  /** Sets the cluster, which knows whether the result of a repeated request was stored. */
  watch(cluster: Cluster): void {
    this.#cluster = cluster
  }

  /** Does something when so many requests have come, before any later one is answered. */
  at(count: number, work: () => Promise<void>): void {
    this.#next = count
    this.#onNext = work
  }

  /** The number of requested paths. */
  get paths(): number {
    return this.#callers.size
  }

  async #answer({ path, headers }: ApiRequest): Promise<number> {
    this.requests += 1
    const caller = String(headers['x-caller'])
    const callers = this.#callers.get(path) ?? []
    this.#callers.set(path, [...callers, caller])
    if (callers.length > 0) {
      const known = await this.#isKnown(path)
      this.repeats.push({ path, caller, before: callers, known })
    }
    if (this.requests >= this.#next) {
      this.#next = Infinity
      this.#held = this.#onNext().finally(() => {
        this.#held = null
      })
    }
    await this.#held
    await delay(this.#random() * SLOWEST_MS)
    return valueOf(path)
  }

  async #isKnown(path: string): Promise<boolean> {
    const row = await this.#cluster?.store.get(
      `SELECT FROM "$provenance" WHERE run IS NOT NULL AND strpos(line, $1) > 0 LIMIT 1`,
      `${this.api.url}${path}"`,
    )
    return row !== undefined
  }
}

/** Returns the response to a path. */
export function valueOf(path: string): number {
  return createHash('sha256').update(path).digest().readUInt32BE(0)
}
