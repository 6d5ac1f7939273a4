import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8'

/** Answers 200 with JSON text, its bytes in UTF-8, or a stream of them, as it is: nothing parses or serializes it again. */
export function sendJson(reply: FastifyReply, json: string | Uint8Array | Readable): FastifyReply {
  return reply.header('content-type', JSON_CONTENT_TYPE).send(json)
}
