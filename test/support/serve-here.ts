import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { startServer, type ServeOptions } from '../../src/cli/commands/serve/run-serve.ts'
import { stopServer } from '../../src/cli/commands/serve/stop-on-signal.ts'
import { onEnd } from './on-end.ts'

/** The limits of queries: those of `serve` without options, except that a query may take long. */
export const QUERY_LIMITS = { timeoutMs: 60_000, maxRows: 10_000, maxMemoryBytes: 384 * 2 ** 20 }

/** Those of `serve` without options, on a free port, except for {@link QUERY_LIMITS}. */
const DEFAULTS: Omit<ServeOptions, 'sheet'> = {
  scripts: 'off',
  host: '127.0.0.1',
  port: 0,
  actor: null,
  lockTimeoutMs: 30_000,
  allowedHosts: [],
  imageHosts: [],
  queryLimits: QUERY_LIMITS,
  bodyLimit: 32 * 2 ** 20,
  logLevel: 'warn',
  stubFile: null,
  callableHosts: null,
  trustedActorHeader: null,
  fixedDefinition: false,
  agents: null,
  storeThread: undefined,
  signKey: null,
  publish: null,
}

/** A server in this process. */
export interface ServedHere {
  readonly url: string
  /** Ends it, and its connections in the middle of what they transfer. */
  stop(): Promise<void>
}

/**
 * Serves the sheet at a path or URL as `colophon serve` does, but in this process, which has loaded the program once: without the second
 * that a process takes to start. It ends with the test.
 */
export async function serveHere(
  t: TestContext,
  sheet: string,
  options: Partial<ServeOptions> = {},
): Promise<ServedHere> {
  const all = { ...DEFAULTS, ...options, sheet }
  const server = await startServer(
    all,
    pino({ level: all.logLevel }, pino.destination({ fd: 2, sync: true })),
  )
  let stopped: Promise<void> | null = null
  const stop = (): Promise<void> => {
    server.app.server.closeAllConnections()
    return (stopped ??= stopServer(server))
  }
  onEnd(t, stop)
  return { url: server.url, stop }
}
