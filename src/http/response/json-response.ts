import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { stringifyInParts } from '../../sheet/json-body.ts'

export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8'

/** Answers 200 with JSON text, its bytes in UTF-8, or a stream of them, as it is: nothing parses or serializes it again. */
export function sendJson(reply: FastifyReply, json: string | Uint8Array | Readable): FastifyReply {
  return reply.header('content-type', JSON_CONTENT_TYPE).send(json)
}

/** Characters that are made into bytes before other requests have their turn. */
const LENGTH_A_TURN = 64 << 10

/**
 * The JSON of a value that may be large: other requests have their turn while it is made. It is text, or bytes where it has more
 * than one part.
 */
export async function jsonInTurns(value: unknown): Promise<string | Uint8Array> {
  const bytes: Buffer[] = []
  let text = ''
  for (const part of stringifyInParts(value)) {
    text += part
    if (text.length < LENGTH_A_TURN) continue
    bytes.push(Buffer.from(text))
    text = ''
    await nextTurn()
  }
  return bytes.length === 0 ? text : Buffer.concat([...bytes, Buffer.from(text)])
}
