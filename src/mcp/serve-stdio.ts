import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Sheet } from '../sheet/sheet.ts'
import { exactLines } from './exact-lines.ts'
import type { AgentScope } from './tools/agent-scope.ts'
import { createMcpServer, share, notifyChanges } from './mcp-server.ts'
import type { ResourceWatch } from './resource-watch.ts'
import { listenedUris } from './listened-uris.ts'

/** Most bytes of one message. */
export const MESSAGE_LIMIT = 4 * 1024 * 1024

export interface StdioOptions {
  readonly scope: AgentScope
  readonly version: string
  readonly log: (error: unknown) => void
}

/** A client that is served over standard input and output. */
export interface StdioConnection {
  /** Resolves when the client has disconnected or the connection was closed, and its calls have ended. */
  readonly ended: Promise<void>
  /** Closes the connection: calls under way and their runs are cancelled. */
  close(): Promise<void>
}

/** Serves one client over standard input and output; only the protocol may write to standard output. */
export function serveOverStdio(sheet: Sheet, { scope, version, log }: StdioOptions): StdioConnection {
  const shared = share({ sheet, scope, version, log })
  // The SDK parses messages with JSON.parse, which rounds numbers.
  const lines = exactLines({ maxBytes: MESSAGE_LIMIT, onRefused: refuseMessage })
  const input = process.stdin.pipe(lines)
  process.stdin.on('error', (error) => lines.destroy(error))
  process.stdin.on('close', () => lines.end())
  const transport = new StdioServerTransport(input, process.stdout, { maxBufferSize: MESSAGE_LIMIT })
  const connection = serveStdio(
    ({ era }) => {
      const server = createMcpServer(shared, scope.actor)
      notifyChanges(server, shared, { subscribing: era === 'legacy' })
      return server
    },
    { transport },
  )
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const { onclose, onmessage } = transport
  const deliver = (message: JSONRPCMessage): void => onmessage?.(message)
  // Properties of the SDK, which it has just set.
  Object.assign(transport, {
    onclose: () => {
      onclose?.()
      void shared.calls.settled().then(resolve)
    },
    onmessage: afterPreparing(shared.watch, deliver, log),
  })
  return { ended, close: () => connection.close() }
}

/** Refuses a request whose numbers would lose digits; a message that is no request gets no response. */
function refuseMessage(line: string, fault: string): void {
  const { id } = JSON.parse(line) as { readonly id?: string | number }
  if (id === undefined) return
  const error = { code: INVALID_PARAMS, message: `a number would lose digits: ${fault}` }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`)
}

/** Error code of JSON-RPC. */
const INVALID_PARAMS = -32602

/**
 * Delivers messages in order, and one that subscribes to changes only once these are watched: its response promises that none is missed
 * from then on.
 */
function afterPreparing(
  watch: ResourceWatch,
  deliver: (message: JSONRPCMessage) => void,
  log: (error: unknown) => void,
): (message: JSONRPCMessage) => void {
  let behind: Promise<void> | null = null
  return (message) => {
    const uris = listenedUris(message)
    if (uris === null && behind === null) {
      deliver(message)
      return
    }
    const turn = async (before: Promise<void> | null): Promise<void> => {
      await before
      const ready = uris === null ? null : await watch.prepare(uris).catch(log)
      deliver(message)
      ready?.()
    }
    const mine = turn(behind).finally(() => {
      if (behind === mine) behind = null
    })
    behind = mine
  }
}
