import { randomFillSync, timingSafeEqual } from 'node:crypto'
import { parseCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { PermissionDeniedError } from '../../errors/service-error.ts'
import { CSRF_COOKIE, CSRF_HEADER } from '../../wire/service/csrf.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The token in the cookie of the response; empty where no cookie is issued. */
    csrfToken: string
  }
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/

/**
 * Ensures that the client has a CSRF cookie: keeps a well-formed one, so that open pages continue to work after a restart, and issues one
 * otherwise (D37).
 */
export function issueCsrfCookie(request: FastifyRequest, reply: FastifyReply): void {
  const arrived = csrfCookie(request)
  const token = arrived !== undefined && TOKEN.test(arrived) ? arrived : newToken()
  request.csrfToken = token
  reply.header('set-cookie', `${CSRF_COOKIE}=${token}; Path=/; SameSite=Strict`)
}

/**
 * Checks the token of a write by double submission: header and cookie are present, not empty and equal (D37). Throws PermissionDeniedError.
 */
export function requireCsrf(request: FastifyRequest): void {
  const cookie = csrfCookie(request)
  const header = request.headers[CSRF_HEADER]
  if (!cookie || !header || !equalInConstantTime(cookie, String(header))) {
    throw new PermissionDeniedError('CSRF token missing or invalid', 'invalid_csrf_token')
  }
}

const TOKEN_BYTES = 32
const pool = Buffer.allocUnsafe(TOKEN_BYTES * 256)
let used = pool.length

/** Returns a new token. Random bytes are drawn for many tokens at a time: one draw costs more than the rest of a small read. */
function newToken(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += TOKEN_BYTES
  return pool.toString('base64url', used - TOKEN_BYTES, used)
}

function csrfCookie(request: FastifyRequest): string | undefined {
  const header = request.headers.cookie
  // The value is compared with the header as sent: nothing in it is decoded.
  return header === undefined ? undefined : parseCookie(header, { decode: (text) => text })[CSRF_COOKIE]
}

function equalInConstantTime(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
