import { randomUUID } from 'node:crypto'
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
  type McpServer,
} from '@modelcontextprotocol/server'
import type { GivenActor } from '../sheet/resolve-actor.ts'
import { createMcpServer, notifyChanges, type Shared } from './mcp-server.ts'

/** Bounds of the sessions of an endpoint. */
export interface SessionLimits {
  /** Most sessions at a time. */
  readonly sessions: number
  /** Milliseconds after which a session ends that has no open connection. */
  readonly idleMs: number
}

export const SESSION_LIMITS: SessionLimits = { sessions: 64, idleMs: 600_000 }

/** A request of a session. */
export interface SessionRequest {
  readonly parsedBody: unknown
  readonly actor: GivenActor
  /** Resolves when the response is sent or the client has disconnected. */
  readonly closed: Promise<void>
}

interface Session {
  readonly id: string
  readonly server: McpServer
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly actor: GivenActor
  /** Responses that are being sent. */
  open: number
  idleSince: number
  timer: NodeJS.Timeout | null
}

const SESSION_HEADER = 'mcp-session-id'

/**
 * The clients of protocols before 2026-07-28, which have sessions. `initialize` begins one; DELETE ends it, and so does a time without
 * connections. The calls under way and their runs are then cancelled.
 */
export class McpSessions {
  readonly #shared: Shared
  readonly #limits: SessionLimits
  readonly #sessions = new Map<string, Session>()
  /** Sessions that are being initialized. */
  #beginning = 0

  constructor(shared: Shared, limits: SessionLimits) {
    this.#shared = shared
    this.#limits = limits
  }

  async handle(request: Request, { parsedBody, actor, closed }: SessionRequest): Promise<Response> {
    const id = request.headers.get(SESSION_HEADER)
    if (id === null) {
      if (request.method !== 'POST' || !isInitializeRequest(parsedBody)) return refuse(400, NO_SESSION)
      if (!this.#makeRoom()) return refuse(503, TOO_MANY)
      this.#beginning += 1
      try {
        return await this.#begin(request, parsedBody, actor)
      } finally {
        this.#beginning -= 1
      }
    }
    const session = this.#sessions.get(id)
    // Another actor that knows the id of a session does not get the rights of its author.
    if (session === undefined || !isSameActor(session.actor, actor)) return refuse(404, ENDED, -32_001)
    void this.#hold(session, closed)
    return session.transport.handleRequest(request, { parsedBody })
  }

  /** Ends every session. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => this.#end(session)))
  }

  async #begin(request: Request, parsedBody: unknown, actor: GivenActor): Promise<Response> {
    const server = createMcpServer(this.#shared, actor)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        const session = { id, server, transport, actor, open: 0, idleSince: 0, timer: null }
        this.#sessions.set(id, session)
        this.#rest(session)
      },
      onsessionclosed: (id) => {
        const session = this.#sessions.get(id)
        if (session !== undefined) this.#forget(session)
      },
    })
    notifyChanges(server, this.#shared, { subscribing: true })
    await server.connect(transport)
    const response = await transport.handleRequest(request, { parsedBody })
    // An invalid initialization leaves no session behind.
    if (transport.sessionId === undefined) await server.close()
    return response
  }

  /** Keeps a session alive while one of its responses is being sent. */
  async #hold(session: Session, closed: Promise<void>): Promise<void> {
    session.open += 1
    if (session.timer !== null) clearTimeout(session.timer)
    session.timer = null
    await closed
    session.open -= 1
    if (session.open === 0 && this.#sessions.has(session.id)) this.#rest(session)
  }

  #rest(session: Session): void {
    session.idleSince = performance.now()
    session.timer = setTimeout(() => void this.#end(session), this.#limits.idleMs).unref()
  }

  /** Whether another session may begin; if there are too many, the one that has been idle longest is ended for it. */
  #makeRoom(): boolean {
    if (this.#sessions.size + this.#beginning < this.#limits.sessions) return true
    const idle = [...this.#sessions.values()].filter(({ open }) => open === 0)
    const [oldest] = idle.toSorted((one, other) => one.idleSince - other.idleSince)
    if (oldest === undefined) return false
    void this.#end(oldest)
    return true
  }

  async #end(session: Session): Promise<void> {
    this.#forget(session)
    await session.server.close().catch(this.#shared.log)
  }

  #forget(session: Session): void {
    this.#sessions.delete(session.id)
    if (session.timer !== null) clearTimeout(session.timer)
    session.timer = null
  }
}

const NO_SESSION = 'Mcp-Session-Id is missing; begin with initialize'
const ENDED = 'Session not found; begin another with initialize'
const TOO_MANY = 'Too many sessions are open; end one with DELETE, or try again later'

function refuse(status: number, message: string, code = -32_000): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}

function isSameActor(one: GivenActor, other: GivenActor): boolean {
  return one === other || (one instanceof Error && other instanceof Error)
}
