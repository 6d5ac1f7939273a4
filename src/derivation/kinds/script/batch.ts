import type { Failure } from '../../../errors/failure.ts'
import { err, type Result } from '../../../errors/result.ts'
import type { Computed, RunContext } from '../../definition/derivation-kind.ts'
import { NotWanted } from '../../limiter/limiter.ts'
import { BatchProcess, type BatchRecord } from './batch-process.ts'
import type { ScriptFile, ScriptHost } from './script-host.ts'
import type { AnswerContext } from './script-values.ts'

/** Processes that end in a row, each without any answer, until suspect records are given up. */
const MAX_FRUITLESS = 5

/** The options of all processes of a batch. */
export interface BatchOptions {
  readonly host: ScriptHost
  readonly script: ScriptFile
  readonly env: { readonly [name: string]: string }
  /** The most seconds from one answer to the next. */
  readonly timeout: number
  readonly answer: AnswerContext
  /** Kills the process. */
  readonly signal: AbortSignal
  /** Does some work while it has one of the processes that a machine may have at a time. Rejects with the signal's reason. */
  permitted(work: () => Promise<void>): Promise<void>
}

interface Waiting extends BatchRecord {
  reject(error: unknown): void
}

/**
 * Computes the records of a run in one process, another one after it has ended. If it ends while several records wait, each of these is tried
 * once more, alone, so that only the one that ends the process fails.
 */
export class Batch {
  readonly #options: BatchOptions
  #queue: Waiting[] = []
  #isWorking = false
  #process: BatchProcess | null = null
  #fruitless = 0

  constructor(options: BatchOptions) {
    this.#options = options
  }

  /** Computes a record from its inputs as JSON. Rejects with the signal's reason and with {@link NotWanted}. */
  compute(
    inputs: string,
    { onBegun, onSent, wanted }: Pick<RunContext, 'onBegun' | 'onSent' | 'wanted'>,
  ): Promise<Result<Computed['values'], Failure>> {
    return new Promise((settle, reject) => {
      let hasBegun = false
      const begin = async (): Promise<boolean> => {
        if (hasBegun) return true
        // The run can say what is needed once `run` of the kind has returned.
        await Promise.resolve()
        try {
          if (!(await wanted())) throw new NotWanted()
          onBegun?.()
          onSent()
          hasBegun = true
        } catch (error) {
          reject(error)
        }
        return hasBegun
      }
      this.#queue.push({ inputs, isSuspect: false, begin, settle, reject })
      this.#process?.feed()
      if (!this.#isWorking) void this.#work()
    })
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    this.#isWorking = true
    try {
      while (this.#queue.length > 0) await this.#options.permitted(() => this.#runProcess())
    } catch (error) {
      for (const { reject } of this.#queue.splice(0)) reject(error)
    }
    this.#isWorking = false
  }

  async #runProcess(): Promise<void> {
    const { host, script, env, timeout, answer, signal } = this.#options
    signal.throwIfAborted()
    const batch = new BatchProcess(answer, timeout, (first) => this.#next(first))
    const started = await host.start({
      script,
      args: [],
      env,
      cpuSeconds: null,
      onOutput: (chunk) => batch.receive(chunk),
      onDrain: () => batch.feed(),
    })
    if (!started.ok) {
      const failure: Failure = { reason: 'refused', request: answer.request, detail: started.error }
      for (const { settle } of this.#queue.splice(0)) settle(err(failure))
      return
    }
    const { kill } = started.value
    signal.addEventListener('abort', kill)
    if (signal.aborted) kill()
    this.#process = batch
    const { left, unsent, failure, isCertain } = await batch.run(started.value)
    this.#process = null
    signal.removeEventListener('abort', kill)
    const records = left as readonly Waiting[]
    this.#queue.unshift(...(unsent as readonly Waiting[]))
    if (signal.aborted) this.#queue.unshift(...records)
    signal.throwIfAborted()
    this.#fruitless = batch.hasAnswered ? 0 : this.#fruitless + 1
    for (const record of records) {
      if (isCertain || record.isSuspect) record.settle(err(failure))
    }
    const retried = records.filter(({ isSuspect }) => !isCertain && !isSuspect)
    for (const record of retried) record.isSuspect = true
    this.#queue.unshift(...retried)
    if (this.#fruitless < MAX_FRUITLESS) return
    const given = this.#queue.filter(({ isSuspect }) => isSuspect)
    this.#queue = this.#queue.filter(({ isSuspect }) => !isSuspect)
    for (const { settle } of given) settle(err(failure))
  }

  /** Takes the next record: a suspect one only alone, and nothing beside it. */
  #next(first: BatchRecord | null): Waiting | null {
    if (first?.isSuspect === true) return null
    const suspect = this.#queue.findIndex(({ isSuspect }) => isSuspect)
    if (suspect === -1) return this.#queue.shift() ?? null
    if (first !== null) return null
    const [record] = this.#queue.splice(suspect, 1)
    return record ?? null
  }
}
