import { createMcpHandler, InMemoryServerEventBus, isLegacyRequest } from '@modelcontextprotocol/server'
import { StoppingError } from '../errors/service-error.ts'
import type { GivenActor } from '../sheet/resolve-actor.ts'
import type { Sheet } from '../sheet/sheet.ts'
import type { AgentScope } from './tools/agent-scope.ts'
import { listenedUris } from './listened-uris.ts'
import { createMcpServer, share, type Shared } from './mcp-server.ts'
import { McpSessions, SESSION_LIMITS, type SessionLimits, type SessionRequest } from './mcp-sessions.ts'
import type { ResourceWatch } from './resource-watch.ts'

export interface McpEndpointOptions {
  readonly scope: AgentScope
  readonly version: string
  readonly log: (error: unknown) => void
  readonly limits?: SessionLimits
}

/** Most streams of changes that clients may have open at a time (protocol 2026-07-28). */
export const LISTENERS = 64

/**
 * MCP over Streamable HTTP, as requests and responses of fetch. Clients of the protocol 2026-07-28 have no sessions: every request is
 * independent, and disconnecting cancels it. Older clients have {@link McpSessions}. All share one budget. The caller must check host and
 * origin first.
 */
export class McpEndpoint {
  readonly #shared: Shared
  readonly #sessions: McpSessions
  readonly #modern: ReturnType<typeof createMcpHandler>
  /** The actors of requests under way. */
  readonly #actors = new WeakMap<Request, GivenActor>()
  #closed = false

  constructor(sheet: Sheet, { scope, version, log, limits = SESSION_LIMITS }: McpEndpointOptions) {
    this.#shared = share({ sheet, scope, version, log })
    this.#sessions = new McpSessions(this.#shared, limits)
    this.#modern = createMcpHandler(
      ({ requestInfo }) => createMcpServer(this.#shared, this.#actorOf(requestInfo)),
      {
        legacy: 'reject',
        bus: new WatchingBus(this.#shared.watch),
        maxSubscriptions: LISTENERS,
      },
    )
  }

  /** Handles a request whose body is parsed; `actor` is the writer, null for the scope's actor. */
  async fetch(request: Request, { parsedBody, actor, closed }: SessionRequest): Promise<Response> {
    if (this.#closed) throw new StoppingError()
    const author = actor ?? this.#shared.scope.actor
    if (await isLegacyRequest(request, parsedBody)) {
      return this.#sessions.handle(request, { parsedBody, actor: author, closed })
    }
    this.#actors.set(request, author)
    const uris = listenedUris(parsedBody)
    const ready = uris === null ? null : await this.#shared.watch.prepare(uris)
    try {
      return await this.#modern.fetch(request, { parsedBody })
    } finally {
      ready?.()
    }
  }

  /** Ends every stream and session; calls under way and their runs are cancelled. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([this.#sessions.close(), this.#modern.close()])
    await this.#shared.calls.settled()
  }

  #actorOf(request: Request | undefined): GivenActor {
    const actor = request === undefined ? undefined : this.#actors.get(request)
    if (actor === undefined) throw new Error('a request without an actor')
    return actor
  }
}

/** Watches for changes while at least one client listens. */
class WatchingBus extends InMemoryServerEventBus {
  readonly #watch: ResourceWatch
  #stop: (() => void) | null = null

  constructor(watch: ResourceWatch) {
    super()
    this.#watch = watch
  }

  override subscribe(listener: Parameters<InMemoryServerEventBus['subscribe']>[0]): () => void {
    const leave = super.subscribe(listener)
    this.#stop ??= this.#watch.listen({
      onListChanged: () => this.publish({ kind: 'resources_list_changed' }),
      onUpdated: (uri) => this.publish({ kind: 'resource_updated', uri }),
    })
    return () => {
      leave()
      if (this.listenerCount > 0) return
      this.#stop?.()
      this.#stop = null
    }
  }
}
