import type { JsonValue } from '../../../../contract/json/json.ts'
import type { Failure } from '../../../../errors/failure.ts'
import type { Result } from '../../../../errors/result.ts'
import type { SharedHosts } from '../../../../store/shared-hosts.ts'
import type { Limiter } from '../../../limiter/limiter.ts'
import type { HostPolicy } from '../../../definition/host-policies.ts'

export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export type HttpMethod = (typeof HTTP_METHODS)[number]

/** A call to make. */
export interface TransportRequest {
  readonly method: HttpMethod
  /** The resolved URL, http or https with a host; it goes out as it is, not normalised (D21). */
  readonly url: string
  /** By name; each name once, whatever its case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** Lower-case names of the headers that carry secrets: not sent on to another origin. */
  readonly secretHeaders: ReadonlySet<string>
}

/** A response that is a success: status 200–299 and a JSON body (D26), or a status that the call accepts, whatever its body. */
export interface TransportResponse {
  readonly status: number
  /** Null where the status was accepted and the body is no JSON. */
  readonly json: JsonValue
  /** The body's text, from which {@link json} was parsed; of an accepted status other than 200–299 up to 16 KiB. */
  readonly text: string
  /** How long the try that brought it took, in whole milliseconds, without the wait for its turn. */
  readonly durationMs: number
}

export interface SendOptions {
  /** Statuses that are a success whatever the body: not tried again, and no redirect is followed. */
  readonly accepts?: Pick<ReadonlySet<number>, 'has'>
  /** Ends the call, whether it waits or is under way. */
  readonly signal: AbortSignal
  /** How its host is treated. */
  readonly policy: HostPolicy
  /** The limiter that the call goes through; by default the transport's own. */
  readonly limiter?: Limiter | undefined
  /** Where the limits of the policy hold for several processes together; without it they hold for this one. */
  readonly hosts?: SharedHosts | undefined
  /** Called when the first try begins. */
  readonly onBegun?: () => void
  /** Called when a request goes out for the first time: its connection is there. */
  readonly onSent?: () => void
  /** Asked before every try; where it is not, the call rejects with {@link NotWanted}. */
  readonly wanted?: () => boolean | Promise<boolean>
  /**
   * A call that took its time keeps its place among those at a time until then, so that a crash never costs more
   * answers than calls are made at a time.
   */
  readonly stored?: Promise<void>
}

/**
 * Why a call failed. `received` is the text that the response began with, not searched for secrets yet: it goes nowhere but to
 * whoever knows these.
 */
export type SendFailure = Failure & { readonly received?: string }

/** What a call comes to. */
export type SendResult = Result<TransportResponse, SendFailure>

/** How the http kind reaches the other end (H6). */
export interface Transport {
  /**
   * Makes one call, in as many tries as the policy allows and it takes; a failure is that of the last one. Whatever
   * goes wrong at the other end is a failure; text from there is in its `received` alone. Rejects with the signal's
   * reason when the signal aborts.
   */
  send(request: TransportRequest, options: SendOptions): Promise<SendResult>
  /**
   * Why it makes no calls to this `host:port`, in the form in which a parsed URL has them; null when it makes them.
   * Always the same.
   */
  refusal(host: string): string | null
  /** Ends calls under way and lets go of all sockets. */
  close(): Promise<void>
}

/** What failures and stub keys call a request: `<METHOD> <URL>`. */
export function requestLabel(request: { readonly method: string; readonly url: string }): string {
  return `${request.method} ${request.url}`
}
