import type { JsonValue } from '../../../contract/json/json.ts'
import type { Failure } from '../../../errors/failure.ts'
import type { Result } from '../../../errors/result.ts'
import type { SharedHosts } from '../../../store/shared-hosts.ts'
import type { Limiter } from '../../limiter/limiter.ts'
import type { HostPolicy } from '../../definition/host-policies.ts'
import type { CallOrigin, FailedTry } from '../../recording/recorded-call.ts'

export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export type HttpMethod = (typeof HTTP_METHODS)[number]

/** A call to make. */
export interface TransportRequest {
  readonly method: HttpMethod
  /** The resolved URL, http or https with a host; it is sent unchanged, not normalised (D21). */
  readonly url: string
  /** By name; each name once, whatever its case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** The prompt of a request to a model, by which a stub chooses an answer: the URL is the same for all. */
  readonly prompt?: StubPrompt
  /** Lower-case names of the headers that contain secrets: not sent to another origin. */
  readonly secretHeaders: ReadonlySet<string>
}

/** A prompt as a stub needs it. */
export interface StubPrompt {
  /** The name of the model in `models.yaml`. */
  readonly model: string
  readonly text: string
  /** Returns the response of the model's API with this answer. */
  responseOf(answer: string): JsonValue
}

/** A successful response: status 200–299 with a JSON body (D26), or a status that the call accepts, whatever its body. */
export interface TransportResponse {
  readonly status: number
  /** Null if the status was accepted and the body is not JSON. */
  readonly json: JsonValue
  /** The body's text, from which {@link json} was parsed; for an accepted status other than 200–299 at most 16 KiB. */
  readonly text: string
  /** Duration of the successful try in whole milliseconds, without the wait for its permit. */
  readonly durationMs: number
}

export interface SendOptions {
  /** Statuses that are a success whatever the body: not tried again, and no redirect is followed. */
  readonly accepts?: Pick<ReadonlySet<number>, 'has'>
  /** Whether an error of this status may be tried again; by default 429 and 500–599 may. */
  readonly mayRetry?: (status: number) => boolean
  /** Called when a try has failed. */
  readonly onFailedTry?: (failed: FailedTry) => void
  /** The origin of the call; absent outside of runs. */
  readonly origin?: CallOrigin | undefined
  /** Whether it continues another call, whose result is lost without this one: it begins before calls that do not. */
  readonly continues?: boolean
  /** Ends the call, whether it waits or is under way. */
  readonly signal: AbortSignal
  /** The policy of its host. */
  readonly policy: HostPolicy
  /** The limiter that the call goes through; by default the transport's own. */
  readonly limiter?: Limiter | undefined
  /** The processes that share the limits of the policy; if absent, the limits apply to this process. */
  readonly hosts?: SharedHosts | undefined
  /** Called when the first try begins. */
  readonly onBegun?: () => void
  /** Called when a request is sent for the first time, after its connection is made. */
  readonly onSent?: () => void
  /** Called before every try; if it returns false, the call rejects with {@link NotWanted}. */
  readonly wanted?: () => boolean | Promise<boolean>
  /** A slow call counts towards the concurrency until this settles, so that a crash never loses more results than the concurrency. */
  readonly stored?: Promise<void>
  /** Called when a response has arrived and other calls wait until that settles. */
  readonly onKept?: (() => void) | undefined
}

/**
 * The failure of a call. `received` is the start of the response, not yet searched for secrets: only code that knows the secrets may
 * receive it.
 */
export type SendFailure = Failure & { readonly received?: string }

/** The result of a call. */
export type SendResult = Result<TransportResponse, SendFailure>

/** The connection of kinds to hosts (H6). */
export interface Transport {
  /**
   * Makes one call, in as many tries as needed and allowed; a failure is that of the last one. Every error of the host is a failure; text
   * from the host is in its `received` only. Rejects with the signal's reason when the signal aborts.
   */
  send(request: TransportRequest, options: SendOptions): Promise<SendResult>
  /** Returns the reason why it does not call this `host:port`, as in a parsed URL; null if it does. Constant. */
  refusal(host: string): string | null
  /** Ends calls under way and closes all sockets. */
  close(): Promise<void>
}

/** Returns the name of a request in failures and stub keys: `<METHOD> <URL>`. */
export function requestLabel(request: { readonly method: string; readonly url: string }): string {
  return `${request.method} ${request.url}`
}
