import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { NoRoom } from '../../../derivation/definition/derivation-kind.ts'
import type { SharedCalls } from '../../../derivation/run-request.ts'
import type { SettledCall } from '../../../store/cell-work.ts'
import type { CallClaim, CallToClaim, RunTasks, TakenTask } from '../../../store/run-tasks.ts'

/**
 * The first and the longest interval, in milliseconds, at which the call of another process is asked for again; it
 * doubles.
 */
const FIRST_WAIT_MS = 20
const LONGEST_WAIT_MS = 400

interface Waiting {
  readonly call: CallToClaim
  readonly signal: AbortSignal
  resolve(claim: CallClaim): void
  reject(error: unknown): void
}

/**
 * The calls of a task, some of which other processes may make. Claims of one iteration of the event loop go to the
 * store together, and so do calls that are released unsent.
 */
export class TaskCalls implements SharedCalls {
  readonly #tasks: RunTasks
  readonly #task: TakenTask
  #waiting: Waiting[] = []
  #unsent: CallToClaim[] = []
  #releasing: Promise<void> | null = null

  constructor(tasks: RunTasks, task: TakenTask) {
    this.#tasks = tasks
    this.#task = task
  }

  async claim(call: CallToClaim, signal: AbortSignal): Promise<SettledCall | null> {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      const claim = await this.#ask(call, signal)
      if (claim === 'mine') return null
      if (claim === 'none-left') throw new NoRoom()
      if (claim !== 'other') return claim
      await delay(wait, undefined, { signal }).catch(() => undefined)
    }
  }

  release(call: CallToClaim, wasSent: boolean): Promise<void> {
    if (wasSent) return this.#tasks.releaseCalls(this.#task, [call], true)
    this.#unsent.push(call)
    // When the task is stopped, all calls that wait for a permit are released at once.
    return (this.#releasing ??= nextTurn().then(() => this.#releaseAll()))
  }

  #releaseAll(): Promise<void> {
    const unsent = this.#unsent
    this.#unsent = []
    this.#releasing = null
    return this.#tasks.releaseCalls(this.#task, unsent, false)
  }

  settle(call: CallToClaim, cost: number): Promise<void> {
    return this.#tasks.settleCall(this.#task, call, cost)
  }

  /** Claims a call. Rejects with the signal's reason at once, without waiting for the store. */
  async #ask(call: CallToClaim, signal: AbortSignal): Promise<CallClaim> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<CallClaim>()
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    this.#waiting.push({ call, signal, resolve, reject })
    if (this.#waiting.length === 1) setImmediate(() => void this.#askAll())
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async #askAll(): Promise<void> {
    const asked = this.#waiting
    this.#waiting = []
    try {
      const claims = await this.#tasks.claimCalls(
        this.#task,
        asked.map(({ call }) => call),
      )
      for (const { call, signal, resolve } of asked) {
        const claim = claims.get(call.hash) ?? 'other'
        resolve(claim)
        if (claim === 'mine' && signal.aborted) void this.release(call, false).catch(() => undefined)
      }
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }
}
