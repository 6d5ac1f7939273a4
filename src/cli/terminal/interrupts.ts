import type { EventEmitter } from 'node:events'
import { EXIT } from './exit-codes.ts'

/** A request to stop, which people make with Ctrl-C and service managers with SIGTERM. */
export interface Interrupts {
  /** Whether it was asked to end. */
  readonly seen: boolean
  /** Restores the default effect of the signals. */
  release(): void
}

/** The process, in tests replaced. */
export interface InterruptedProcess {
  readonly signals: Pick<EventEmitter, 'on' | 'off'>
  /** Milliseconds, from any start. */
  now(): number
  exit(code: number): void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Signals of one way that come within so many milliseconds are one: service managers and npm send several. */
const ONE_SIGNAL_MS = 500

const THIS_PROCESS: InterruptedProcess = {
  signals: process,
  now: () => performance.now(),
  exit: (code) => process.exit(code),
}

/**
 * Calls `stop` on the first SIGINT, SIGTERM or SIGHUP, so that work in progress can end well. A second signal at least half
 * a second later means impatience and ends the process with 130. A signal to the process group arrives several times: at
 * the process itself, and once from each launcher (`bin/launcher.js`), which names the way that it took. Only a second one
 * that took the same way is a second signal, however late a launcher passes the first one on.
 */
export function onInterrupt(
  stop: (signal: NodeJS.Signals) => void,
  { signals, now, exit }: InterruptedProcess = THIS_PROCESS,
): Interrupts {
  const firstAt = new Map<string, number>()
  const handle = (signal: NodeJS.Signals, _number?: number, way = 'itself'): void => {
    const first = firstAt.get(way)
    if (first !== undefined) {
      if (now() - first >= ONE_SIGNAL_MS) exit(EXIT.interrupted)
      return
    }
    firstAt.set(way, now())
    if (firstAt.size === 1) stop(signal)
  }
  for (const signal of SIGNALS) signals.on(signal, handle)
  return {
    get seen() {
      return firstAt.size > 0
    },
    release: () => {
      for (const signal of SIGNALS) signals.off(signal, handle)
    },
  }
}
