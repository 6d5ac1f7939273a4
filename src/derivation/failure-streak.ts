import { renderFailure, responseBodyOf, type Failure } from '../errors/failure.ts'
import { RunStoppedError } from '../errors/service-error.ts'
import type { StreakNote } from '../store/run-tasks.ts'

/** Statuses after which no further call can succeed: a wrong key, no money, no permission. One response is enough. */
const HOPELESS: readonly number[] = [401, 402, 403]

/** Characters of a response that the error shows. */
const SHOWN = 200

interface HostStreak {
  /** Failures in a row that this process counted. */
  own: number
  /** Failures that are not reported yet. */
  failures: number
  succeeded: boolean
  /** The last failure. */
  last: Failure | null
}

/**
 * Counts the failures in a row at each host, over all derivations of a run, and decides when the run stops. If several processes compute a
 * run, they add up the counts that they {@link take} and {@link learn} the sums.
 */
export class FailureStreak {
  readonly #limit: number | null
  readonly #hosts = new Map<string, HostStreak>()
  #stopped: RunStoppedError | null = null

  /** `limit`: failures in a row after which a run stops; null for never. */
  constructor(limit: number | null) {
    this.#limit = limit
  }

  /** The reason why no more calls are made; null while they are. */
  get stopped(): RunStoppedError | null {
    return this.#stopped
  }

  /** Counts a call; `failure` is null for a success. */
  note(host: string, failure: Failure | null): void {
    if (this.#limit === null || this.#stopped !== null) return
    const streak = this.#streakAt(host)
    if (failure === null) {
      Object.assign(streak, { own: 0, failures: 0, succeeded: true })
      return
    }
    streak.own += 1
    streak.failures += 1
    streak.last = failure
    if (failure.reason === 'status' && HOPELESS.includes(failure.status)) {
      this.#stopped = new RunStoppedError(
        `${host} refused a call, so the run was stopped: ${textOf(failure)}; ${HINT}`,
      )
    } else this.#check(host, streak, streak.own)
  }

  /** Takes the counts to report to other processes; empty if there are none, and without a limit. */
  take(): readonly StreakNote[] {
    const notes: StreakNote[] = []
    for (const [host, streak] of this.#hosts) {
      const { failures, succeeded } = streak
      if (failures > 0 || succeeded) notes.push({ host, failures, succeeded })
      Object.assign(streak, { failures: 0, succeeded: false })
    }
    return notes
  }

  /** Puts back counts that could not be reported. */
  giveBack(notes: readonly StreakNote[]): void {
    for (const { host, failures, succeeded } of notes) {
      const streak = this.#streakAt(host)
      // Later events come after it.
      if (!streak.succeeded) Object.assign(streak, { failures: streak.failures + failures, succeeded })
    }
  }

  /** Sets the failures in a row at hosts of all processes, including those that this one has reported. */
  learn(counts: ReadonlyMap<string, number>): void {
    for (const [host, count] of counts) {
      const streak = this.#streakAt(host)
      if (this.#stopped !== null || streak.succeeded) continue
      this.#check(host, streak, count + streak.failures)
    }
  }

  #check(host: string, { last }: HostStreak, count: number): void {
    if (this.#limit === null || count < this.#limit || last === null) return
    const calls = count === 1 ? 'a call failed' : `${count} calls in a row failed`
    this.#stopped = new RunStoppedError(
      `${calls} at ${host}, so the run was stopped; the last: ${textOf(last)}; ${HINT}`,
    )
  }

  #streakAt(host: string): HostStreak {
    const known = this.#hosts.get(host)
    if (known !== undefined) return known
    const streak: HostStreak = { own: 0, failures: 0, succeeded: false, last: null }
    this.#hosts.set(host, streak)
    return streak
  }
}

const HINT = 'what was computed stays, and stop_after_failures: 0 goes on over failures'

/** Returns the error of a failure with the start of the response, in one line. */
function textOf(failure: Failure): string {
  const { error } = renderFailure(failure)
  const said = responseBodyOf(failure)?.replaceAll(/\s+/g, ' ')
  if (said === undefined) return error
  return `${error}: ${said.length > SHOWN ? `${said.slice(0, SHOWN)}…` : said}`
}
