import type { EventEmitter } from 'node:events'
import { EXIT } from './exit-codes.ts'

/** A request to stop: Ctrl-C, or SIGTERM from a service manager. */
export interface Interrupts {
  /** Whether a signal has arrived. */
  readonly seen: boolean
  /** Restores the default effect of the signals. */
  release(): void
}

/** The process; tests replace it. */
export interface InterruptedProcess {
  readonly signals: Pick<EventEmitter, 'on' | 'off'>
  /** Returns the time in milliseconds from any start. */
  now(): number
  exit(code: number): void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The time, in milliseconds, within which signals of one path count as one: service managers and npm send several. */
const ONE_SIGNAL_MS = 500

const THIS_PROCESS: InterruptedProcess = {
  signals: process,
  now: () => performance.now(),
  exit: (code) => process.exit(code),
}

/**
 * Calls `stop` on the first SIGINT, SIGTERM or SIGHUP, so that work in progress can finish. A second signal at least
 * half a second later ends the process with 130. A signal to the process group arrives several times: at the process
 * itself, and once from each launcher (`bin/launcher.js`), which names the path of the signal. Only a second signal of
 * the same path counts, however late a launcher forwards the first.
 */
export function onInterrupt(
  stop: (signal: NodeJS.Signals) => void,
  { signals, now, exit }: InterruptedProcess = THIS_PROCESS,
): Interrupts {
  const firstAt = new Map<string, number>()
  const handle = (signal: NodeJS.Signals, _number?: number, path = 'itself'): void => {
    const first = firstAt.get(path)
    if (first !== undefined) {
      if (now() - first >= ONE_SIGNAL_MS) exit(EXIT.interrupted)
      return
    }
    firstAt.set(path, now())
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
