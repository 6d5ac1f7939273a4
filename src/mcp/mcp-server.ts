import {
  fromJsonSchema,
  McpServer,
  type ServerContext,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server'
import type { TObject } from 'typebox'
import type { GivenActor } from '../sheet/resolve-actor.ts'
import type { Sheet } from '../sheet/sheet.ts'
import { inDialect, type SqlDialect } from '../wire/schema/dialect.ts'
import type { AgentScope } from './tools/agent-scope.ts'
import { CallBudget } from './tools/call-budget.ts'
import { callTool } from './tools/call-tool.ts'
import { CallsUnderWay } from './calls-under-way.ts'
import { registerCompletions } from './completions.ts'
import { instructions } from './instructions.ts'
import { registerPrompts } from './prompts.ts'
import { ResourceWatch } from './resource-watch.ts'
import { registerResources } from './resources.ts'
import { TAKES_ANYTHING } from './takes-anything.ts'
import type { ToolContext, ToolProgress } from './tools/tool.ts'
import { toolsOf } from './tools/tool-list.ts'

/** The state that the servers of all clients share. */
export interface Shared {
  readonly sheet: Sheet
  readonly scope: AgentScope
  readonly budget: CallBudget
  readonly watch: ResourceWatch
  readonly calls: CallsUnderWay
  /** Version of the program. */
  readonly version: string
  /** Logs internal errors. */
  readonly log: (error: unknown) => void
}

/**
 * Creates the MCP server of a sheet for one client (or one request): resources, prompts, and the tools that the scope allows. `actor` is
 * the writer.
 */
export function createMcpServer(shared: Shared, actor: GivenActor): McpServer {
  const { sheet, scope, budget, calls, log } = shared
  const server = new McpServer(
    { name: 'colophon', title: `Colophon: ${sheet.name}`, version: shared.version },
    {
      instructions: instructions(scope, sheet.dialect),
      capabilities: {
        tools: { listChanged: false },
        prompts: { listChanged: false },
        resources: { listChanged: true, subscribe: true },
      },
    },
  )
  for (const tool of toolsOf(scope)) {
    const { name, title, description, annotations } = tool
    server.registerTool(
      name,
      {
        title,
        description: inDialect(description, sheet.dialect),
        annotations: { title, ...annotations },
        inputSchema: listed(tool.input, sheet.dialect),
      },
      (given, request) => {
        const context: ToolContext = {
          sheet,
          scope,
          actor,
          budget,
          signal: request.mcpReq.signal,
          onProgress: progressOf(request),
        }
        return calls.during(callTool(tool, given, { context, log }))
      },
    )
  }
  registerResources(server, sheet, log)
  registerPrompts(server, scope.mode, log)
  registerCompletions(server, sheet, log)
  return server
}

/** Created once: over HTTP there can be a server for every request. */
const LISTED: Readonly<Record<SqlDialect, WeakMap<TObject, StandardSchemaWithJSON>>> = {
  sqlite: new WeakMap(),
  postgres: new WeakMap(),
}

function listed(schema: TObject, dialect: SqlDialect): StandardSchemaWithJSON {
  const known = LISTED[dialect].get(schema) ?? fromJsonSchema(inDialect(schema, dialect), TAKES_ANYTHING)
  LISTED[dialect].set(schema, known)
  return known
}

/** Returns a function that sends progress to the client; null if the client gave no token. */
function progressOf({ mcpReq }: ServerContext): ((progress: ToolProgress) => void) | null {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return null
  return ({ done, total, message }) => {
    const params = { progressToken, progress: done, total, message }
    // The client may have disconnected.
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}

/**
 * Notifies the client of a connection of changes until it closes. With `subscribing` (protocols before 2026-07-28) only of resources that
 * it subscribes to; otherwise of all, and the transport filters those that the client listens to.
 */
export function notifyChanges(
  { server }: McpServer,
  { watch }: Shared,
  { subscribing }: { readonly subscribing: boolean },
): void {
  const subscribed = new Set<string>()
  const stop = watch.listen({
    onListChanged: () => void server.sendResourceListChanged().catch(() => undefined),
    onUpdated: (uri) => {
      if (subscribing && !subscribed.has(uri)) return
      void server.sendResourceUpdated({ uri }).catch(() => undefined)
    },
  })
  // A property of the SDK, which has no events.
  Object.assign(server, { onclose: stop })
  if (!subscribing) return
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (subscribed.size < SUBSCRIPTIONS) subscribed.add(uri)
    const ready = await watch.prepare([uri])
    ready()
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri)
    return {}
  })
}

/** Most resources that one client can subscribe to. */
export const SUBSCRIPTIONS = 1000

/** Creates the state that the servers of all clients share. */
export function share(given: Pick<Shared, 'sheet' | 'scope' | 'version' | 'log'>): Shared {
  return {
    ...given,
    budget: new CallBudget(given.scope),
    watch: new ResourceWatch(given.sheet, given.log),
    calls: new CallsUnderWay(),
  }
}
