import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LatencyRow } from './case.ts'
import { quantile } from './load.ts'

/** What the reader is told by a message. */
export type ReaderOrder = 'begin' | 'end'

/** Of each request: how long it took from when it was meant to be sent, and how late it was sent. In milliseconds. */
export interface SteadyReads {
  readonly latencies: readonly number[]
  readonly late: readonly number[]
}

export interface ReaderOptions {
  /** How many records there are to choose from. */
  readonly records: number
  /** Length of each measurement. */
  readonly seconds: number
}

const PER_SECOND = 200
const SETTLE_MS = 500
const HIGH_PRIORITY = -15

/** Reads of single records at a steady rate, by a process of their own. */
export class SteadyReader {
  readonly #child: ChildProcess
  /** Rejected when the process ends of itself. */
  readonly #gone: Promise<never>
  readonly #settleMs: number

  private constructor(child: ChildProcess, settleMs: number) {
    this.#child = child
    this.#settleMs = settleMs
    this.#gone = once(child, 'exit').then(() => Promise.reject(new Error('the reader has ended')))
    this.#gone.catch(() => {})
  }

  static async start(url: string, { records, seconds }: ReaderOptions): Promise<SteadyReader> {
    const script = new URL('../children/steady-reader.ts', import.meta.url)
    const child = fork(script, [url, String(records), String(PER_SECOND)])
    preferToOthers(child.pid!)
    const reader = new SteadyReader(child, Math.min(SETTLE_MS, seconds * 250))
    await reader.#answer()
    return reader
  }

  /** Reads while something else goes on, and for at least so many seconds. */
  async during(work: () => Promise<unknown>, atLeastSeconds = 0): Promise<SteadyReads> {
    await sleep(this.#settleMs)
    this.#tell('begin')
    await Promise.all([work(), sleep(atLeastSeconds * 1000)])
    this.#tell('end')
    return (await this.#answer()) as SteadyReads
  }

  stop(): void {
    this.#child.disconnect()
  }

  #tell(order: ReaderOrder): void {
    this.#child.send(order)
  }

  async #answer(): Promise<unknown> {
    const [message] = (await Promise.race([once(this.#child, 'message'), this.#gone])) as [unknown]
    return message
  }
}

/** Otherwise it may be late itself where the programs that it measures have all processors busy. */
function preferToOthers(pid: number): void {
  try {
    setPriority(pid, HIGH_PRIORITY)
  } catch {
    // Only the administrator may; without it the figures include how late it is, which they tell.
  }
}

/** The line of several measurements together. */
export function latencyRow(
  meanwhile: string,
  measurements: readonly SteadyReads[],
  p99AtMost: number,
): LatencyRow {
  const latencies = measurements.flatMap((reads) => reads.latencies)
  return {
    kind: 'latency',
    meanwhile,
    requests: latencies.length,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    max: quantile(latencies, 1),
    lateP99: quantile(
      measurements.flatMap(({ late }) => late),
      0.99,
    ),
    p99AtMost,
  }
}
