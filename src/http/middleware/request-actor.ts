import type { FastifyRequest } from 'fastify'
import { ValidationError } from '../../errors/service-error.ts'
import { checkActor, type GivenActor } from '../../sheet/resolve-actor.ts'
import { headerValues } from './request-head.ts'

/** The header in which clients name the actor of a DELETE. */
const ACTOR_HEADER = 'X-Svc-Actor'

/** Determines the actor of requests. */
export interface RequestActors {
  /** Whether a reverse proxy names the actor, so that the names in requests have no effect. */
  readonly areFixed: boolean
  /** Returns the actor of a request whose body may name one; an empty name counts as absent (D36). */
  ofBody(request: FastifyRequest, named: string | undefined): GivenActor
  /** Returns the actor of a request without a body, from the header `X-Svc-Actor`. Throws ValidationError if the header occurs twice. */
  ofHeader(request: FastifyRequest): GivenActor
  /** Returns the actor of a request whose body is not read here: a fixed one, or null to use the one in the body. */
  besideBody(request: FastifyRequest): GivenActor
}

/** The actor is the one that the request names: the service trusts its clients. */
const NAMED_BY_CLIENTS: RequestActors = {
  areFixed: false,
  ofBody: (_request, named) => named || null,
  ofHeader(request) {
    const [value, second] = headerValues(request.raw.rawHeaders, ACTOR_HEADER)
    if (second !== undefined) {
      throw new ValidationError(
        `the header ${ACTOR_HEADER} occurs more than once; send it once`,
        'repeated_parameter',
      )
    }
    return value === undefined ? null : readUtf8(value) || null
  },
  besideBody: () => null,
}

/**
 * Returns the rule for the actor of requests. With a `trustedHeader`, which a reverse proxy sets, that header alone names the actor,
 * whatever the client and the sheet's default are. A write without it, with it twice, or with no actor in it (D39) is a ValidationError.
 */
export function requestActors(trustedHeader: string | null): RequestActors {
  if (trustedHeader === null) return NAMED_BY_CLIENTS
  const named = (request: FastifyRequest): GivenActor => readTrusted(request, trustedHeader)
  return { areFixed: true, ofBody: named, ofHeader: named, besideBody: named }
}

function readTrusted(request: FastifyRequest, header: string): string | ValidationError {
  const [value, second] = headerValues(request.raw.rawHeaders, header)
  if (second !== undefined) {
    return new ValidationError(
      `the header ${header} occurs more than once; the reverse proxy must set it, not add to it`,
      'repeated_parameter',
    )
  }
  const actor = readUtf8(value ?? '')
  if (actor === '') {
    return new ValidationError(
      `actor is required: the header ${header}, which names the actor, is missing; write through the reverse proxy that sets it`,
      'actor_required',
    )
  }
  const fault = checkActor(actor)
  return fault === null
    ? actor
    : new ValidationError(`${fault}, and the header ${header} has such a one`, 'invalid_actor')
}

/** Decodes a header's value as UTF-8 where it is valid: Node reads Latin-1; command-line clients and proxies send UTF-8. */
function readUtf8(value: string): string {
  const utf8 = Buffer.from(value, 'latin1').toString('utf8')
  return utf8.includes('\uFFFD') ? value : utf8
}
