import { err, ok } from '../../../errors/result.ts'
import type { RecordingIndex } from '../../recording/recording-index.ts'
import { requestLabel } from '../call/transport.ts'
import type { SendOptions, SendResult, Transport, TransportRequest } from '../call/transport.ts'
import { parseJson } from '../response/parse-json.ts'

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
    const { signal, onSent, mayRetry, origin = NOWHERE } = options
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
    const { answer } = recorded
    if ('failure' in answer) {
      // Kinds note with it whether the request may have cost something.
      if (answer.failure.reason === 'status') mayRetry?.(answer.failure.status)
      return err(answer.failure)
    }
    const { status, durationMs, body } = answer
    const text = body ?? ''
    return ok({ status, durationMs, text, json: parseJson(text) ?? null })
  }

  /** Nothing is called in any case. */
  refusal(): null {
    return null
  }

  /** The recording stays open. */
  async close(): Promise<void> {}
}

const NOWHERE = { derivation: '', recordId: '' }
