import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LatencyRow } from './case.ts'
import { quantile } from './load.ts'

/** A message to the reader. */
export type ReaderOrder = 'begin' | 'end'

/** The latency of each request from its scheduled start, and the delay of its start, in milliseconds. */
export interface SteadyReads {
  readonly latencies: readonly number[]
  readonly late: readonly number[]
}

export interface ReaderOptions {
  /** The number of records to choose from. */
  readonly records: number
  /** Length of each measurement. */
  readonly seconds: number
}

const PER_SECOND = 200
const SETTLE_MS = 500
const HIGH_PRIORITY = -15

/** Reads single records at a steady rate, in another process. */
export class SteadyReader {
  readonly #child: ChildProcess
  /** Rejects when the process ends by itself. */
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

  /** Reads during other work, and for at least this many seconds. */
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

/** Otherwise it may be late itself while the measured programs use all processors. */
function preferToOthers(pid: number): void {
  try {
    setPriority(pid, HIGH_PRIORITY)
  } catch {
    // This requires root; without it the figures include its own delay, which they report.
  }
}

/** Returns the row of several measurements together. */
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
