import { request as httpRequest, type Agent, type IncomingHttpHeaders } from 'node:http'

/** A request as sent: nothing is added to these headers, and a name may occur twice or not at all. */
export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: string
}

/** The response; for an event stream only the headers, since it has no end. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Sends a request to 127.0.0.1, over one of the agent's connections; rejects when `signal` aborts it. */
export function send(
  target: { port: number; agent: Agent; signal?: AbortSignal },
  sent: SentRequest,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const length = sent.body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(sent.body))]
  const options = {
    ...target,
    host: '127.0.0.1',
    method: sent.method,
    path: sent.path,
    setHost: false,
    headers: [...sent.headers.flat(), ...length],
  }
  const outgoing = httpRequest(options, (response) => {
    const { statusCode: status = 0, headers } = response
    let body = ''
    response.setEncoding('utf8')
    response.on('data', (text) => (body += String(text)))
    response.on('end', () => resolve({ status, headers, body }))
    response.on('error', reject)
    if (headers['content-type']?.startsWith('text/event-stream')) {
      resolve({ status, headers, body })
      response.destroy()
    }
  })
  outgoing.on('error', reject)
  outgoing.end(sent.body)
  return promise
}
