import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

/** Sends a fetch `Response` with the security headers; a stream at the pace at which the client reads it. */
export function sendResponse(reply: FastifyReply, response: Response): void {
  reply.hijack()
  const { connection: _connection, ...own } = Object.fromEntries(response.headers)
  const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), ...own }
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  // The connection of a stream serves nothing else afterwards.
  reply.raw.writeHead(response.status, isStream ? { ...headers, connection: 'close' } : headers)
  if (response.body === null) {
    reply.raw.end()
    return
  }
  reply.raw.flushHeaders()
  void pump(response.body, reply.raw)
}

async function pump(body: ReadableStream<Uint8Array>, raw: ServerResponse): Promise<void> {
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  raw.on('close', cancel)
  if (raw.destroyed) cancel()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!raw.write(value)) await drained(raw)
    }
    raw.end()
  } catch {
    // A stream that fails must not look complete.
    raw.destroy()
  }
}

function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (raw.destroyed) return resolve()
    const go = (): void => {
      raw.off('drain', go)
      raw.off('close', go)
      resolve()
    }
    raw.on('drain', go)
    raw.on('close', go)
  })
}
