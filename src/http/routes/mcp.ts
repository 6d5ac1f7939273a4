import type { FastifyRequest } from 'fastify'
import { PermissionDeniedError } from '../../errors/service-error.ts'
import type { GivenActor } from '../../sheet/resolve-actor.ts'
import { acceptJsonBodies } from '../middleware/body-parser.ts'
import { sendResponse } from '../response/send-response.ts'
import type { Api, RequestHook, RouteContext } from './route-context.ts'

/** Where agents are served: requests and answers of fetch, behind the check of host and origin. */
export interface AgentEndpoint {
  /** The body has been read; `actor` is who writes, null for whom the endpoint knows; `closed` when the answer is through. */
  fetch(
    request: Request,
    how: { readonly parsedBody: unknown; readonly actor: GivenActor; readonly closed: Promise<void> },
  ): Promise<Response>
  /** Ends streams and sessions. */
  close(): Promise<void>
}

/** Largest message of an agent in bytes. */
export const MCP_BODY_LIMIT = 4 * 1024 * 1024

/** `/mcp`: the Model Context Protocol over Streamable HTTP. No cookie is looked at, so that there is nothing to forge. */
export function mcpRoutes(app: Api, { actors, checkHead }: RouteContext, endpoint: AgentEndpoint): void {
  // Its records may have arrays of any length; the limit in bytes bounds them.
  acceptJsonBodies(app, Infinity)
  const onRequest: RequestHook = (request, reply, done) => {
    // A link on a page of another site may lead a browser to pages, and this is none.
    if (request.headers['sec-fetch-mode'] === 'navigate') {
      done(new PermissionDeniedError('/mcp is for agents, it has no page to show', 'origin_refused'))
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

/** As much of a request as the protocol looks at; neither cookies nor credentials. */
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
