import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pino, type Logger } from 'pino'
import type { AgentScope } from '../../../mcp/tools/agent-scope.ts'
import type { McpEndpoint } from '../../../mcp/mcp-endpoint.ts'
import { usedResources } from '../../../sheet/calls/used-resources.ts'
import { openSheet, type SheetOptions } from '../../../sheet/open-sheet.ts'
import { OrphanRecovery } from '../../../sheet/runs/coordination/orphan-recovery.ts'
import type { Sheet } from '../../../sheet/sheet.ts'
import type { StoreThread } from '../../../sheet/store-thread.ts'
import { imageLine, printStartMessage, resourceLines } from './start-message.ts'
import { callTransport, type TransportOptions } from '../../options/call-transport.ts'
import { packageFile, packageVersion } from '../../../package/package-files.ts'
import { whyNotStarted } from './start-error.ts'
import { stopOnSignal, type Running } from './stop-on-signal.ts'

/** The arguments of `serve`. */
export interface ServeOptions extends TransportOptions, Pick<SheetOptions, 'signKey' | 'publish'> {
  /** The path of the sheet's directory, or the URL of its store. */
  readonly sheet: string
  readonly scripts: SheetOptions['scripts']
  readonly host: string
  readonly port: number
  readonly actor: string | null
  readonly lockTimeoutMs: number
  readonly allowedHosts: readonly string[]
  /** Other hosts whose images the viewer shows. */
  readonly imageHosts: readonly string[]
  readonly queryLimits: {
    readonly timeoutMs: number
    readonly maxRows: number
    readonly maxMemoryBytes: number
  }
  /** The maximum size of a body, in bytes. */
  readonly bodyLimit: number
  readonly logLevel: string
  /** The header in which a reverse proxy names the actor, in lower case; null for none. */
  readonly trustedActorHeader: string | null
  /** Whether the definition cannot be changed over HTTP. */
  readonly fixedDefinition: boolean
  /** The permissions of agents at `/mcp`; null disables it. */
  readonly agents: AgentScope | null
  /** The writing thread, for {@link openSheet}. */
  readonly storeThread: StoreThread | undefined
}

/** A server that listens. */
export interface RunningServer extends Running {
  readonly url: string
  /** The lines of the start message on the resources that derivations use. */
  readonly resources: string
}

/**
 * Serves a sheet until SIGTERM or SIGINT. Prints its URL on standard output, and in another line the hosts that its
 * derivations call; the log goes to standard error. When it cannot start, prints one line on standard error and exits
 * with 1 (D3).
 */
export async function serve(options: ServeOptions): Promise<void> {
  const logger = pino({ level: options.logLevel }, pino.destination({ fd: 2, sync: true }))
  try {
    const server = await startServer(options, logger)
    const stop = stopOnSignal(server, logger)
    if (!isLoopback(options.host)) {
      logger.warn(
        { host: options.host },
        'listening beyond this machine: the service does not authenticate users, so put a reverse proxy in front of it',
      )
    }
    await printStartMessage(
      `Colophon serves ${server.sheet.name} at ${server.url}\n${server.resources}${imageLine(options.imageHosts)}`,
      stop,
    )
  } catch (error) {
    const reason = whyNotStarted(error, options)
    if (reason === undefined) throw error
    process.stderr.write(`colophon: ${reason}\n`)
    process.exitCode = 1
  }
}

/** Starts the server of a sheet in this process; stop it with `stopServer`. */
export async function startServer(options: ServeOptions, logger: Logger): Promise<RunningServer> {
  const opening = open(options, logger)
  // The thread opens the store while the rest of the program is loaded.
  await Promise.race([opening, options.storeThread?.begun])
  const [sheet, { createApp }] = await Promise.all([opening, import('../../../http/app.ts')])
  const app = createApp(sheet, {
    logger,
    allowedHosts: [options.host, ...options.allowedHosts],
    bodyLimit: options.bodyLimit,
    pages: builtViewer(),
    imageHosts: options.imageHosts,
    logRequests: logger.isLevelEnabled('debug'),
    trustedActorHeader: options.trustedActorHeader,
    agents: options.agents === null ? null : await serveAgents(sheet, options.agents, logger),
  })
  const resources = await listen(app, sheet, options)
  // Takes over runs of servers and workers that are gone.
  return { app, sheet, recovery: new OrphanRecovery(sheet), url: urlOf(app), resources }
}

async function serveAgents(sheet: Sheet, scope: AgentScope, logger: Logger): Promise<McpEndpoint> {
  const { McpEndpoint: Endpoint } = await import('../../../mcp/mcp-endpoint.ts')
  const log = (error: unknown): void => logger.error({ err: error }, 'internal error')
  return new Endpoint(sheet, { scope, log, version: packageVersion() })
}

function open(options: ServeOptions, logger: Logger): Promise<Sheet> {
  return openSheet(options.sheet, {
    defaultActor: options.actor,
    lockTimeoutMs: options.lockTimeoutMs,
    queryLimits: options.queryLimits,
    transport: callTransport(options),
    scripts: options.scripts,
    handOverRuns: true,
    fixedDefinition: options.fixedDefinition,
    storeThread: options.storeThread,
    signKey: options.signKey,
    publish: options.publish,
    logger,
  })
}

/** Listens, and returns the lines on the resources that derivations use. Closes the sheet when either fails. */
async function listen(app: FastifyInstance, sheet: Sheet, options: ServeOptions): Promise<string> {
  try {
    const resources = resourceLines(await usedResources(sheet), { stubbed: options.stubFile !== null })
    await app.listen({ host: options.host, port: options.port })
    return resources
  } catch (error) {
    await sheet.close()
    throw error
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

function urlOf(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Returns the directory of the viewer; null when it has not been built. */
function builtViewer(): string | null {
  const directory = packageFile('web', 'dist')
  return existsSync(join(directory, 'index.html')) ? directory : null
}
