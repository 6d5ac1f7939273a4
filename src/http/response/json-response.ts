import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8'

/** Sends JSON text, its bytes in UTF-8, or a stream of them, with status 200: nothing parses or serializes it again. */
export function sendJson(reply: FastifyReply, json: string | Uint8Array | Readable): FastifyReply {
  return reply.header('content-type', JSON_CONTENT_TYPE).send(json)
}
