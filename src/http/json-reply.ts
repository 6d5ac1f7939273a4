import type { FastifyReply } from 'fastify'

export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8'

/** Answers 200 with JSON text, or its bytes in UTF-8, as it is: nothing parses or serializes it again. */
export function sendJson(reply: FastifyReply, json: string | Uint8Array): FastifyReply {
  return reply.header('content-type', JSON_CONTENT_TYPE).send(json)
}
