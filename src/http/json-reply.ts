import type { FastifyReply } from 'fastify'

export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8'

/** Answers 200 with text that is JSON already, as it is: nothing parses or serializes it again. */
export function sendJsonText(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', JSON_CONTENT_TYPE).send(text)
}
