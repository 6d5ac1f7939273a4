import type { FastifyRequest } from 'fastify'
import { PermissionDeniedError } from '../../errors/service-error.ts'
import type { GivenActor } from '../../sheet/resolve-actor.ts'
import { acceptJsonBodies } from '../middleware/body-parser.ts'
import { sendResponse } from '../response/send-response.ts'
import type { Api, RequestHook, RouteContext } from './route-context.ts'

/** Serves agents: handles requests of fetch, which have passed the check of host and origin. */
export interface AgentEndpoint {
  /**
   * Handles a request whose body is parsed; `actor` is the writer, null for the default of the endpoint; `closed` resolves when the
   * response is sent.
   */
  fetch(
    request: Request,
    how: { readonly parsedBody: unknown; readonly actor: GivenActor; readonly closed: Promise<void> },
  ): Promise<Response>
  /** Ends streams and sessions. */
  close(): Promise<void>
}

/** Largest message of an agent in bytes. */
export const MCP_BODY_LIMIT = 4 * 1024 * 1024

/** `/mcp`: the Model Context Protocol over Streamable HTTP. It reads no cookie, so that no request can be forged. */
export function mcpRoutes(app: Api, { actors, checkHead }: RouteContext, endpoint: AgentEndpoint): void {
  // The records may have arrays of any length; the limit in bytes bounds them.
  acceptJsonBodies(app, Infinity)
  const onRequest: RequestHook = (request, reply, done) => {
    // A link on a page of another site may open pages, and this is none.
    if (request.headers['sec-fetch-mode'] === 'navigate') {
      done(new PermissionDeniedError('/mcp is for agents; it has no page', 'origin_refused'))
      return
    }
    checkHead(request, reply, done)
  }
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    exposeHeadRoute: false,
    bodyLimit: MCP_BODY_LIMIT,
    onRequest,
    handler: async (request, reply) => {
      const actor = actors.besideBody(request)
      const hungUp = new AbortController()
      const { promise: closed, resolve } = Promise.withResolvers<void>()
      reply.raw.on('close', () => {
        if (!reply.raw.writableFinished) hungUp.abort()
        resolve()
      })
      const asked = webRequest(request, hungUp.signal)
      const response = await endpoint.fetch(asked, { parsedBody: request.body, actor, closed })
      return sendResponse(reply, response)
    },
  })
}

/** Returns a request with the headers that the protocol reads; neither cookies nor credentials. */
function webRequest({ method, headers }: FastifyRequest, signal: AbortSignal): Request {
  const kept = Object.entries(headers).filter(
    ([name]) =>
      name === 'accept' || name === 'content-type' || name === 'last-event-id' || name.startsWith('mcp-'),
  )
  return new Request('http://localhost/mcp', {
    method,
    headers: kept.map(([name, value]): [string, string] => [name, [value ?? ''].flat().join(', ')]),
    signal,
  })
}
