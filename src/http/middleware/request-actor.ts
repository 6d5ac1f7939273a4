import type { FastifyRequest } from 'fastify'
import { ValidationError } from '../../errors/service-error.ts'
import { checkActor, type GivenActor } from '../../sheet/resolve-actor.ts'
import { headerValues } from './request-head.ts'

/** The header in which clients name the actor of a DELETE. */
const ACTOR_HEADER = 'X-Svc-Actor'

/** Who requests are from. */
export interface RequestActors {
  /** Whether a reverse proxy says it, so that it makes no difference whom a request names. */
  readonly areFixed: boolean
  /** Of a request whose body names an actor, or may; an empty one is absent (D36). */
  ofBody(request: FastifyRequest, named: string | undefined): GivenActor
  /** Of a request without a body: what the header `X-Svc-Actor` says. Throws ValidationError when it is there twice. */
  ofHeader(request: FastifyRequest): GivenActor
  /** Of a request whose body is not read here: who it is from whatever the body says, null to go by the body. */
  besideBody(request: FastifyRequest): GivenActor
}

/** Requests are from whom they say: the service trusts its clients (specification, "Errors", 5). */
const NAMED_BY_CLIENTS: RequestActors = {
  areFixed: false,
  ofBody: (_request, named) => named || null,
  ofHeader(request) {
    const [value, second] = headerValues(request.raw.rawHeaders, ACTOR_HEADER)
    if (second !== undefined) {
      throw new ValidationError(
        `the header ${ACTOR_HEADER} is there more than once; send it once`,
        'repeated_parameter',
      )
    }
    return value === undefined ? null : readUtf8(value) || null
  },
  besideBody: () => null,
}

/**
 * Who requests are from. With a `trustedHeader` it is whom that header names, which a reverse proxy sets, and nobody
 * else, whatever the client and the sheet's default say; a write without it, or with it twice or with no actor in it (D39),
 * is a ValidationError.
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
      `the header ${header} is there more than once; the reverse proxy must set it, not add to it`,
      'repeated_parameter',
    )
  }
  const actor = readUtf8(value ?? '')
  if (actor === '') {
    return new ValidationError(
      `actor is required: the header ${header} says who writes, and it is not there; write through the reverse proxy that sets it`,
      'actor_required',
    )
  }
  const fault = checkActor(actor)
  return fault === null
    ? actor
    : new ValidationError(`${fault}, and the header ${header} has such a one`, 'invalid_actor')
}

/** A header's value, read as UTF-8 where it is that: Node reads Latin-1; command-line clients and proxies send UTF-8. */
function readUtf8(value: string): string {
  const utf8 = Buffer.from(value, 'latin1').toString('utf8')
  return utf8.includes('\uFFFD') ? value : utf8
}
