import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { Sheet } from '../sheet/sheet.ts'
import { acceptJsonBodies, ignoreTypeOfNoBody } from './middleware/body-parser.ts'
import { issueCsrfCookie, requireCsrf } from './middleware/csrf.ts'
import { ValidationError } from '../errors/service-error.ts'
import { createErrorHandler } from './middleware/error-handler.ts'
import { finishResponse } from './response/finish-response.ts'
import type { HttpLogger } from './middleware/http-logger.ts'
import {
  respondToParserError,
  createHttpServer,
  HEAD_LIMIT,
  HTTP_TIMES,
  URL_LIMIT,
  type HttpTimes,
} from './http-server.ts'
import { createOpenApi } from './openapi/openapi-file.ts'
import { listOperations } from './openapi/operation-table.ts'
import { OriginGuard } from './middleware/origin-guard.ts'
import { requestActors } from './middleware/request-actor.ts'
import { isApiPath, loggedPath, requestPath } from './middleware/request-head.ts'
import { compileShape, type QueryText } from './middleware/request-validator.ts'
import type { RequestHook, RouteContext } from './routes/route-context.ts'
import { RouteTable } from './routes/route-table.ts'
import { contractRoutes } from './routes/contract.ts'
import { csrfRoutes } from './routes/csrf.ts'
import { definitionRoutes } from './routes/definition.ts'
import { derivationsRoutes } from './routes/derivations.ts'
import { docsRoutes } from './routes/docs.ts'
import { eventsRoutes } from './routes/events.ts'
import { exportRoutes } from './routes/export.ts'
import { importRoutes } from './routes/import.ts'
import { healthRoutes } from './routes/health.ts'
import { logRoutes } from './routes/provenance/log.ts'
import { materializeRoutes } from './routes/materialize.ts'
import { mcpRoutes, type AgentEndpoint } from './routes/mcp.ts'
import { openApiRoutes } from './routes/openapi.ts'
import { pagesRoutes } from './routes/pages.ts'
import { permissionsRoutes } from './routes/permissions.ts'
import { proposalsRoutes } from './routes/proposals.ts'
import { eraseRoutes } from './routes/provenance/erase.ts'
import { reviewsRoutes } from './routes/provenance/reviews.ts'
import { provenanceRoutes } from './routes/provenance/provenance.ts'
import { queryRoutes } from './routes/query.ts'
import { recordsRoutes } from './routes/records.ts'
import { revertRoutes } from './routes/revert.ts'
import { runsRoutes } from './routes/runs.ts'
import { statusRoutes } from './routes/status.ts'
import { summaryRoutes } from './routes/summary.ts'
import { chartsRoutes } from './routes/views/charts-routes.ts'
import { viewsRoutes } from './routes/views/views-routes.ts'
import { setSecurityHeaders } from './middleware/security-headers.ts'
import { EventStreams, STALLED_MS } from './response/event-streams.ts'

/** Options of {@link createApp}. */
export interface AppOptions {
  readonly logger: HttpLogger
  /** Hosts that requests may name besides `localhost` and IP literals: the address served and `--allow-host` (D38). */
  readonly allowedHosts: readonly string[]
  /** Largest body in bytes (D36). */
  readonly bodyLimit: number
  /** Header in which a reverse proxy names the actor of a write; null if clients name it themselves. */
  readonly trustedActorHeader: string | null
  /** Directory of the built viewer; null for none. */
  readonly pages: string | null
  /** Other hosts whose images the viewer shows: `host`, `host:port`, `*.host`. */
  readonly imageHosts: readonly string[]
  /** Milliseconds between keepalive comments on event streams. */
  readonly keepAliveMs: number
  /** Milliseconds after which an event stream is closed whose client reads none of its waiting frames. */
  readonly stalledMs: number
  /** Time limits for clients. */
  readonly times: HttpTimes
  /** Whether every request is logged, at debug level. */
  readonly logRequests: boolean
  /** The endpoint at `/mcp`, which is closed with the app; null for no such path. */
  readonly agents: AgentEndpoint | null
}

const DEFAULTS: AppOptions = {
  logger: { debug: () => undefined, error: () => undefined },
  allowedHosts: [],
  bodyLimit: 32 * 1024 * 1024,
  trustedActorHeader: null,
  pages: null,
  imageHosts: [],
  keepAliveMs: 15_000,
  stalledMs: STALLED_MS,
  times: HTTP_TIMES,
  logRequests: false,
  agents: null,
}

/**
 * Creates the REST interface and the event stream over a sheet (`docs/reference/http.md`). Order of checks: host and origin for every
 * path, CSRF, the shape of the request, then the checks of the operation (D36). Closing the app ends the event streams and finishes the
 * requests under way; the sheet stays open.
 */
export function createApp(sheet: Sheet, options: Partial<AppOptions> = {}): FastifyInstance {
  const settings: AppOptions = { ...DEFAULTS, ...options }
  const onError = createErrorHandler(settings)
  const guard = new OriginGuard(settings.allowedHosts)
  const streams = new EventStreams(settings)
  const app = Fastify({
    serverFactory: (listener) => createHttpServer(listener, settings.times),
    clientErrorHandler: respondToParserError,
    bodyLimit: settings.bodyLimit,
    return503OnClosing: false,
    routerOptions: {
      maxParamLength: HEAD_LIMIT,
      querystringParser: (text): Readonly<Record<keyof QueryText, string>> => ({ text }),
    },
    // Errors that Fastify raises before any hook runs, such as a path that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      try {
        checkOrigin(request, reply)
        if (isApiPath(requestPath(request.raw))) issueCsrfCookie(request, reply)
        onError(error, request, reply)
      } catch (refusal) {
        onError(refusal, request, reply)
      }
    },
  })
  app.decorateRequest('csrfToken', '')
  app.decorateReply('holdsSecret', false)
  const table = new RouteTable(app)

  const checkOrigin = (request: FastifyRequest, reply: FastifyReply): void => {
    setSecurityHeaders(reply)
    guard.check(request)
  }
  // Before the body is read: a request to an unknown path is refused for its path, whatever its body.
  const refuseUnknown = (request: FastifyRequest, reply: FastifyReply): void => {
    if (!request.is404) return
    const path = requestPath(request.raw)
    if (isApiPath(path)) issueCsrfCookie(request, reply)
    throw table.explain(request.method, path)
  }

  app.setErrorHandler(onError)
  // For missing files; unknown paths are refused earlier.
  app.setNotFoundHandler((request) => {
    throw table.explain(request.method, requestPath(request.raw))
  })
  app.setValidatorCompiler(compileShape)
  app.setSerializerCompiler(() => JSON.stringify)
  app.addHook(
    'onRequest',
    hook((request, reply) => {
      checkOrigin(request, reply)
      refuseUnknown(request, reply)
    }),
  )
  let closing = false
  // The runs are stopped before the app is closed.
  const isClosing = (): boolean => closing || sheet.stopping.aborted
  app.addHook('preClose', async () => {
    closing = true
    streams.close()
    await settings.agents?.close()
  })
  app.addHook('onSend', function (request, reply, payload, done) {
    // Otherwise connections of requests under way stay open, idle, and delay the shutdown.
    if (isClosing()) reply.header('connection', 'close')
    finishResponse.call(this, request, reply, payload, done)
  })
  if (settings.logRequests) app.addHook('onResponse', logRequest(settings.logger))
  acceptJsonBodies(app)
  // A body of DELETE is ignored (D36).
  app.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })

  const write = {
    onRequest: hook((request) => {
      requireCsrf(request)
      checkHead(request)
    }),
  }
  const context: RouteContext = {
    sheet,
    logger: settings.logger,
    streams,
    openApi: createOpenApi(sheet, listOperations(app, write.onRequest)),
    isClosing,
    actors: requestActors(settings.trustedActorHeader),
    checkHead: hook(checkHead),
    read: {
      onRequest: hook((request, reply) => {
        issueCsrfCookie(request, reply)
        checkHead(request)
      }),
    },
    write,
  }
  const api = app.withTypeProvider<TypeBoxTypeProvider>()
  for (const routes of ROUTES) void api.register((scope) => routes(scope, context))
  const { pages, imageHosts, agents } = settings
  if (agents !== null) void api.register(async (scope) => mcpRoutes(scope, context, agents))
  if (pages !== null) void app.register(async (scope) => pagesRoutes(scope, { directory: pages, imageHosts }))
  return app
}

/** In the order of the sections at `/docs`. */
const ROUTES = [
  recordsRoutes,
  queryRoutes,
  summaryRoutes,
  exportRoutes,
  importRoutes,
  contractRoutes,
  derivationsRoutes,
  definitionRoutes,
  permissionsRoutes,
  statusRoutes,
  provenanceRoutes,
  materializeRoutes,
  runsRoutes,
  revertRoutes,
  proposalsRoutes,
  reviewsRoutes,
  eraseRoutes,
  logRoutes,
  viewsRoutes,
  chartsRoutes,
  eventsRoutes,
  csrfRoutes,
  healthRoutes,
  openApiRoutes,
  docsRoutes,
]

/** Makes a Fastify hook of a check that throws. The hook takes a callback, since awaiting nothing costs every request a little. */
function hook(check: (request: FastifyRequest, reply: FastifyReply) => void): RequestHook {
  return (request, reply, done) => {
    try {
      check(request, reply)
    } catch (error) {
      done(error as Error)
      return
    }
    done()
  }
}

function checkHead(request: FastifyRequest): void {
  if (request.url.length > URL_LIMIT) {
    throw new ValidationError(
      `the URL is longer than ${URL_LIMIT} bytes; ask for less at a time`,
      'url_too_long',
    )
  }
  ignoreTypeOfNoBody(request)
}

function logRequest(logger: HttpLogger): RequestHook {
  return (request, reply, done) => {
    const ms = Math.round(reply.elapsedTime)
    logger.debug(
      { method: request.method, path: loggedPath(request.raw), status: reply.statusCode, ms },
      'request',
    )
    done()
  }
}
