import { Client } from 'pg'
import { StoreAwayError } from '../../../errors/service-error.ts'
import { ConnectError } from './errors.ts'
import type { StoreLocation } from './store-url.ts'

/**
 * Adds the address and what to do to the error of a connection that could not be made; returns other errors unchanged. Only
 * for the operator who opens a store: responses to requests must not reveal addresses of the database.
 */
export function withAdvice(error: unknown, { connectionString }: StoreLocation): unknown {
  if (!(error instanceof ConnectError)) return error
  const { host, port } = new Client({ connectionString })
  const isSocket = host.startsWith('/')
  const name = host.includes(':') ? `[${host}]` : host
  const place = isSocket ? `the socket ${host}/.s.PGSQL.${port}` : `${name}:${port}`
  const advice = adviceOn(error.reason, isSocket ? place : host, place)
  return new StoreAwayError(`${error.message}: ${advice}`)
}

/** Returns the advice for the reason of a {@link ConnectError}. */
function adviceOn(reason: string, host: string, place: string): string {
  if (/^(ENOTFOUND|EAI_)/.test(reason)) {
    return `the host ${host} is not known; correct it in the URL of the store, or look at name resolution`
  }
  if (/^(ECONNREFUSED|ENOENT)$/.test(reason)) {
    return `nothing takes connections at ${place}; start PostgreSQL there, or correct host and port in the URL of the store`
  }
  if (reason.includes('does not support SSL')) {
    return `the server at ${place} has no TLS, which the URL asks for; give it a certificate, or say sslmode=disable where the way there is safe`
  }
  if (/CERT|SELF_SIGNED|ERR_TLS|LEAF_SIGNATURE/.test(reason)) {
    return `the certificate of the server at ${place} is not one to trust; name its authority by sslrootcert=<file>, and the server as its certificate does`
  }
  if (/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$|time/.test(reason)) {
    return `${place} does not answer; look whether a firewall is in the way, and correct host and port in the URL of the store`
  }
  return `that is about ${place}`
}
