import type { Clock } from '../limiter/clock.ts'

interface Alarm {
  readonly at: number
  readonly callback: () => void
}

/** Test support: a clock that jumps to the next timer as soon as one is set, so that no test waits. */
export class JumpingClock implements Clock {
  /** The length of each jump, in milliseconds. */
  readonly jumps: number[] = []
  readonly #alarms = new Set<Alarm>()
  #now = 0

  now(): number {
    return this.#now
  }

  after(ms: number, callback: () => void): () => void {
    const alarm = { at: this.#now + ms, callback }
    this.#alarms.add(alarm)
    setImmediate(() => this.#jump())
    return () => this.#alarms.delete(alarm)
  }

  #jump(): void {
    const [next] = [...this.#alarms].toSorted((a, b) => a.at - b.at)
    if (next === undefined) return
    this.#alarms.delete(next)
    this.jumps.push(next.at - this.#now)
    this.#now = next.at
    next.callback()
  }
}

/** Test support: a clock that never advances; its timers never fire. */
export class StoppedClock implements Clock {
  /** Timers that are set. */
  pending = 0
  readonly #onAlarm: () => void

  constructor(onAlarm: () => void) {
    this.#onAlarm = onAlarm
  }

  now(): number {
    return 0
  }

  after(): () => void {
    this.pending += 1
    this.#onAlarm()
    return () => {
      this.pending -= 1
    }
  }
}
