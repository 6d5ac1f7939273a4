import { err, ok } from '../../../errors/result.ts'
import { requestLabel } from '../call/transport.ts'
import type { SendOptions, SendResult, TransportRequest } from '../call/transport.ts'
import { parseJson } from '../response/parse-json.ts'
import { isSuccess } from './hop.ts'

/** A response that was received or recorded. */
export interface Received {
  readonly request: Pick<TransportRequest, 'method' | 'url'>
  readonly status: number
  /** The text of the body; of an error its start, empty for none. */
  readonly text: string
  readonly durationMs: number
}

/** Returns the result of a response: a success if the call accepts its status, or if the status is 200–299 and the body JSON. */
export function resultOf(
  { request, status, text, durationMs }: Received,
  accepts: SendOptions['accepts'],
): SendResult {
  const label = requestLabel(request)
  const isAccepted = accepts?.has(status) === true
  if (!isSuccess(status)) {
    if (isAccepted) return ok({ status, json: null, text, durationMs })
    return err({ reason: 'status', request: label, status, ...(text !== '' && { received: text }) })
  }
  const json = parseJson(text)
  if (json === undefined && !isAccepted) return err({ reason: 'malformed_json', request: label })
  return ok({ status, json: json ?? null, text, durationMs })
}
