import type { Failure } from '../../../errors/failure.ts'
import { err, ok, type Result } from '../../../errors/result.ts'
import type { FailedTry, RecordedCall, SentRequest } from '../../recording/recorded-call.ts'
import type { SendOptions, Transport, TransportRequest, TransportResponse } from '../call/transport.ts'
import type { SecretGuard } from '../guard/secret-guard.ts'
import { SecretSearch } from '../guard/secret-search.ts'
import { isSuccess } from './hop.ts'
import { excerptOf, guardedFailure } from '../response/error-body.ts'

/** A call to make, and what is known of it without its secrets. */
export interface GuardedCall {
  readonly request: TransportRequest
  /** The request as a recording has it. */
  readonly shown: SentRequest
  /** Finds the secrets of the request. */
  readonly guard: SecretGuard
}

export interface GuardedOptions extends SendOptions {
  readonly onRecorded?: ((call: RecordedCall) => void) | undefined
}

/** A response, and the text of it that may be stored: null if that repeats a secret. */
export interface GuardedResponse extends TransportResponse {
  readonly stored: string | null
}

/** Makes a call, and reports it for the recording. No secret is in its failure. Rejects as {@link Transport.send} does. */
export async function sendGuarded(
  transport: Transport,
  { request, shown, guard }: GuardedCall,
  options: GuardedOptions,
): Promise<Result<GuardedResponse, Failure>> {
  const { origin, onRecorded } = options
  const tries: FailedTry[] = []
  const answer = await transport.send(request, { ...options, onFailedTry: (failed) => tries.push(failed) })
  const record = (result: RecordedCall['answer']): void => {
    if (origin !== undefined) onRecorded?.({ origin, request: shown, tries, answer: result })
  }
  if (!answer.ok) {
    const failure = guardedFailure(answer.error, guard)
    // Nothing was sent.
    if (failure.reason !== 'refused') record({ failure })
    return err(failure)
  }
  const { status, durationMs, text } = answer.value
  const stored = mayBeStored(answer.value, guard) ? storedText(status, text, guard) : null
  record({ status, durationMs, body: stored })
  return ok({ ...answer.value, stored })
}

/** Applies to an accepted error status as to a failure. */
function storedText(status: number, text: string, guard: SecretGuard): string {
  return isSuccess(status) ? text : excerptOf(text, guard)
}

/**
 * Whether a response contains no secret of its request: all of its values are searched, and its text too, since the values omit the first
 * of two equal keys.
 */
function mayBeStored({ json, text }: TransportResponse, guard: SecretGuard): boolean {
  if (guard.hasNothingToFind) return true
  return new SecretSearch(guard).verdict(json) === 'clean' && !guard.isIn(text)
}
