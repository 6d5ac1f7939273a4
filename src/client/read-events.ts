import { EventSourceParserStream } from 'eventsource-parser/stream'
import { ApiError } from './api-error.ts'
import { PROBLEM, type CallOptions, type Connection } from './connection.ts'

/** The server sends a comment every 15 seconds: a connection that is silent for longer than this is none any more. */
const SILENT_MS = 45_000
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 15_000

/** Options of reading a stream. */
export interface StreamOptions extends CallOptions {
  /** Called when the connection is lost, each time. */
  readonly onLost?: (() => void) | undefined
  /**
   * Called when the connection is there again after it was lost, and when the server says so: what was sent meanwhile may have
   * been missed.
   */
  readonly onReconnect?: (() => void) | undefined
}

/** One event of a stream, not yet parsed. */
export interface StreamEvent {
  readonly kind: string
  /** JSON text. */
  readonly data: string
  /** The id of the last event, for servers that resend missed events. */
  readonly id: string | undefined
}

/**
 * The events of a stream, for as long as somebody reads them: a connection that is lost is made again, after half a
 * second and then after longer and longer, at most 15 seconds. Ends by `break`, or by rejecting with the signal's reason. Throws ApiError
 * when the first connection cannot be made, and when the server refuses a later one.
 */
export async function* readEvents(
  connection: Connection,
  path: string,
  { signal, onLost, onReconnect }: StreamOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  let isFirst = true
  let lastId: string | undefined
  for (let failures = 0; ;) {
    try {
      const stream = await openStream(connection, path, { signal, lastId })
      if (!isFirst) onReconnect?.()
      isFirst = false
      failures = 0
      for await (const event of stream) {
        lastId = event.id ?? lastId
        yield event
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (isFirst || isRefusal(error)) throw error
    }
    // Every try after that fails for the same reason.
    if (failures === 0) onLost?.()
    await pause(Math.min(FIRST_DELAY_MS * 2 ** failures, LONGEST_DELAY_MS), signal)
    failures += 1
  }
}

async function openStream(
  connection: Connection,
  path: string,
  { signal, lastId }: { readonly signal: AbortSignal | undefined; readonly lastId: string | undefined },
): Promise<AsyncGenerator<StreamEvent, void, undefined>> {
  const silence = new AbortController()
  const signals = signal === undefined ? [silence.signal] : [signal, silence.signal]
  const response = await connection.request('GET', path, {
    headers: {
      accept: `text/event-stream, ${PROBLEM}`,
      ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
    },
    signal: AbortSignal.any(signals),
  })
  if (response.body === null) throw new ApiError(response.status, 'ServiceError', 'the stream has no body')
  return parse(response.body, silence)
}

async function* parse(
  body: ReadableStream<Uint8Array>,
  silence: AbortController,
): AsyncGenerator<StreamEvent, void, undefined> {
  let timer = setTimeout(() => silence.abort(), SILENT_MS)
  const decoder = new TextDecoder()
  const text = new TransformStream<Uint8Array, string>({
    transform: (chunk, controller) => {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENT_MS)
      controller.enqueue(decoder.decode(chunk, { stream: true }))
    },
  })
  const events = body.pipeThrough(text).pipeThrough(new EventSourceParserStream()).getReader()
  try {
    for (;;) {
      const { done, value } = await events.read()
      if (done) return
      yield { kind: value.event ?? 'message', data: value.data, id: value.id }
    }
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

/** Whether asking again would bring the same answer. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500
}

/** Waits, or rejects with the signal's reason. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abort = (): void => reject(signal?.reason as Error)
  const timer = setTimeout(resolve, ms)
  signal?.throwIfAborted()
  signal?.addEventListener('abort', abort, { once: true })
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  })
}
