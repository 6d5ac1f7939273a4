import { EXIT } from './exit-codes.ts'

/** Something that Ctrl-C can end. */
export interface Interrupts {
  /** Whether it was asked to end. */
  readonly seen: boolean
  /** Gives Ctrl-C back its usual meaning. */
  release(): void
}

/**
 * Has Ctrl-C, SIGTERM and SIGHUP call `stop` the first time, so that what is under way can end well, and end the process at
 * once the second time.
 */
export function onInterrupt(stop: () => void): Interrupts {
  let seen = false
  const handle = (): void => {
    if (seen) process.exit(EXIT.interrupted)
    seen = true
    stop()
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, handle)
  return {
    get seen() {
      return seen
    },
    release: () => {
      for (const signal of signals) process.off(signal, handle)
    },
  }
}
