import { renderFailure, responseBodyOf, type Failure } from '../errors/failure.ts'
import { RunStoppedError } from '../errors/service-error.ts'

/** Statuses that say that no call of this kind will succeed: a wrong key, no money, no permission. One is enough. */
const HOPELESS: readonly number[] = [401, 402, 403]

/** Characters of a response that the error shows. */
const SHOWN = 200

/**
 * Counts the failures in a row at each host, over all derivations of a run that this process computes, and tells when the run is to
 * stop.
 */
export class FailureStreak {
  readonly #limit: number | null
  readonly #failures = new Map<string, number>()
  #stopped: RunStoppedError | null = null

  /** `limit`: failures in a row after which a run stops; null for never. */
  constructor(limit: number | null) {
    this.#limit = limit
  }

  /** Why no more calls are made; null as long as they are. */
  get stopped(): RunStoppedError | null {
    return this.#stopped
  }

  /** Counts a call; `failure` is null for one that brought a value. */
  note(host: string, failure: Failure | null): void {
    if (this.#limit === null || this.#stopped !== null) return
    if (failure === null) {
      this.#failures.delete(host)
      return
    }
    const count = (this.#failures.get(host) ?? 0) + 1
    this.#failures.set(host, count)
    const last = textOf(failure)
    if (failure.reason === 'status' && HOPELESS.includes(failure.status)) {
      this.#stopped = new RunStoppedError(`${host} refused a call, so the run was stopped: ${last}; ${HINT}`)
    } else if (count >= this.#limit) {
      const calls = count === 1 ? 'a call failed' : `${count} calls in a row failed`
      this.#stopped = new RunStoppedError(
        `${calls} at ${host}, so the run was stopped; the last: ${last}; ${HINT}`,
      )
    }
  }
}

const HINT = 'what was computed stays, and stop_after_failures: 0 goes on over failures'

/** The error of a failure, with the start of what the response said, in one line. */
function textOf(failure: Failure): string {
  const { error } = renderFailure(failure)
  const said = responseBodyOf(failure)?.replaceAll(/\s+/g, ' ')
  if (said === undefined) return error
  return `${error}: ${said.length > SHOWN ? `${said.slice(0, SHOWN)}…` : said}`
}
