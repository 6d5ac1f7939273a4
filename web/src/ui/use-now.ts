import { useSyncExternalStore } from 'react'

/** A clock shared by all components, so that a long list of times needs no timer each. */
class Clock {
  readonly #everyMs: number
  readonly #listeners = new Set<() => void>()
  #timer: ReturnType<typeof setInterval> | null = null
  #now = Date.now()

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  get now(): number {
    return this.#now
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    this.#now = Date.now()
    this.#timer ??= setInterval(() => this.#tick(), this.#everyMs)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  #tick(): void {
    this.#now = Date.now()
    for (const listener of this.#listeners) listener()
  }
}

const seconds = new Clock(1000)
const coarse = new Clock(10_000)

/** Returns the time, updated each second for `seconds`, else as relative times need. */
export function useNow(step: 'seconds' | 'coarse'): number {
  const clock = step === 'seconds' ? seconds : coarse
  return useSyncExternalStore(clock.subscribe, () => clock.now)
}
