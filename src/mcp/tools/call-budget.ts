import { LockTimeoutError, OperationError } from '../../errors/service-error.ts'
import type { BudgetAnswer } from '../../wire/tool-answers.ts'
import type { AgentScope } from './agent-scope.ts'
import { countText } from './count-text.ts'

/** The calls and money that a run has spent. */
export interface Spending {
  readonly calls: number
  /** Dollars. */
  readonly totalCost: number
}

/** Bounds of one run; null for none. */
export interface RunBounds {
  readonly maxCalls: number | null
  readonly maxCost: number | null
}

/** Permission for one run to spend. It must be ended. */
export interface Turn {
  /** The tighter of the run's own bounds and the rest of the budget. */
  readonly bounds: RunBounds
  /** Registers the function that returns what the run has spent. */
  spends(spending: () => Spending): void
  end(): void
}

/**
 * The budget that all runs of a server's agents share. Runs spend one after the other, so that none relies on money that another is
 * spending; a sheet has one run at a time anyway (D31).
 */
export class CallBudget {
  readonly #limits: Pick<AgentScope, 'maxCalls' | 'maxCost'>
  #calls = 0
  #cost = 0
  #current: (() => Spending) | null = null
  /** Resolves when every run so far has ended. */
  #free: Promise<void> = Promise.resolve()

  constructor({ maxCalls, maxCost }: Pick<AgentScope, 'maxCalls' | 'maxCost'>) {
    this.#limits = { maxCalls, maxCost }
  }

  get isLimited(): boolean {
    return this.#limits.maxCalls !== null || this.#limits.maxCost !== null
  }

  /** The state of the budget, including the run under way; null without bounds. */
  get answer(): BudgetAnswer | null {
    if (!this.isLimited) return null
    const { maxCalls, maxCost } = this.#limits
    const { calls, totalCost } = this.#spent
    return {
      calls,
      max_calls: maxCalls,
      calls_left: maxCalls === null ? null : Math.max(0, maxCalls - calls),
      cost: totalCost,
      max_cost: maxCost,
      cost_left: maxCost === null ? null : Math.max(0, inDollars(maxCost - totalCost)),
    }
  }

  /**
   * Waits until the run may spend, at most `patienceMs` milliseconds. Throws LockTimeoutError, and OperationError when the signal aborts
   * while waiting. Without bounds it does not wait.
   */
  async turn(
    own: RunBounds,
    { patienceMs, signal }: { patienceMs: number; signal: AbortSignal },
  ): Promise<Turn> {
    if (!this.isLimited) return { bounds: own, spends: () => undefined, end: () => undefined }
    const before = this.#free
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#free = before.then(() => promise)
    try {
      await withTimeout(before, patienceMs, signal)
    } catch (error) {
      resolve()
      throw error
    }
    const left = this.answer
    return {
      bounds: {
        maxCalls: lesser(own.maxCalls, left?.calls_left ?? null),
        maxCost: lesser(own.maxCost, left?.cost_left ?? null),
      },
      spends: (spending) => {
        this.#current = spending
      },
      end: () => {
        const { calls, totalCost } = this.#spent
        this.#current = null
        this.#calls = calls
        this.#cost = totalCost
        resolve()
      },
    }
  }

  get #spent(): Spending {
    const { calls, totalCost } = this.#current?.() ?? { calls: 0, totalCost: 0 }
    return { calls: this.#calls + calls, totalCost: inDollars(this.#cost + totalCost) }
  }
}

/** Returns the budget as a member of a response; nothing without bounds. */
export function withBudget({ answer }: CallBudget): { budget?: BudgetAnswer } {
  return answer === null ? {} : { budget: answer }
}

/** Returns the rest of the budget as text; empty without bounds. */
export function budgetText(budget: BudgetAnswer | null): string {
  if (budget === null) return ''
  const { calls, max_calls: maxCalls, cost, max_cost: maxCost } = budget
  const parts = [
    ...(maxCalls === null ? [] : [`${calls} of ${countText(maxCalls, 'call')}`]),
    ...(maxCost === null ? [] : [`$${cost} of $${maxCost}`]),
  ]
  return `Spent so far: ${parts.join(' and ')}.`
}

function lesser(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}

async function withTimeout(promise: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () =>
      reject(
        new LockTimeoutError(
          'another run of this server is spending the budget; wait for it to end',
          'run_in_progress',
        ),
      ),
    ms,
  )
  const onAbort = (): void => reject(new OperationError('the call was cancelled', 'call_cancelled'))
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  try {
    await Promise.race([promise, stopped])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Rounds a sum of dollars to a billionth, against errors of floating point. */
function inDollars(sum: number): number {
  return Math.round(sum * 1e9) / 1e9
}
