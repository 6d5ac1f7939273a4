import type { Failure } from '../../../errors/failure.ts'
import { err } from '../../../errors/result.ts'
import type { RecordedCall } from '../../recording/recorded-call.ts'
import type { RecordingIndex } from '../../recording/recording-index.ts'
import { requestLabel } from '../call/transport.ts'
import type { SendOptions, SendResult, Transport, TransportRequest } from '../call/transport.ts'
import { resultOf, type Received } from './result-of.ts'

/** A transport that answers from a recording, and never leaves the process. The requests of a replay have no secrets, as those of the recording. */
export class ReplayTransport implements Transport {
  /** The recorded run that is replayed. */
  run = ''
  /** Calls that were answered, and those of them that another run has made. */
  answered = 0
  fromOtherRuns = 0
  readonly #recording: RecordingIndex

  constructor(recording: RecordingIndex) {
    this.#recording = recording
  }

  async send(request: TransportRequest, options: SendOptions): Promise<SendResult> {
    const { signal, onSent, accepts, mayRetry, origin = NOWHERE } = options
    signal.throwIfAborted()
    const call = { request, origin, run: this.run }
    const recorded = this.#recording.find(call)
    if (recorded === null) {
      const detail = this.#recording.missing(call)
      return err({ reason: 'not_recorded', request: requestLabel(request), detail })
    }
    onSent?.()
    this.answered += 1
    if (recorded.run !== this.run) this.fromOtherRuns += 1
    const received = receivedOf(recorded.answer)
    if ('reason' in received) return err(received)
    const result = resultOf({ request, ...received }, accepts)
    // Kinds note with it whether the request may have cost something.
    if (!result.ok && result.error.reason === 'status') mayRetry?.(result.error.status)
    return result
  }

  /** Nothing is called in any case. */
  refusal(): null {
    return null
  }

  /** The recording stays open. */
  async close(): Promise<void> {}
}

const NOWHERE = { derivation: '', recordId: '' }

/** Returns the response that a call received; otherwise the failure of a call that received none, or one of no use in any case. */
function receivedOf(answer: RecordedCall['answer']): Omit<Received, 'request'> | Failure {
  if (!('failure' in answer)) return { ...answer, text: answer.body ?? '' }
  const { failure } = answer
  if (failure.reason !== 'status') return failure
  return { status: failure.status, text: failure.responseBody ?? '', durationMs: 0 }
}
