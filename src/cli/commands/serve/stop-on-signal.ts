import type { FastifyInstance } from 'fastify'
import type { OrphanRecovery } from '../../../sheet/runs/coordination/orphan-recovery.ts'
import type { Sheet } from '../../../sheet/sheet.ts'
import { onInterrupt } from '../../terminal/interrupts.ts'

/** The parts of a server, which are stopped. */
export interface Running {
  readonly app: FastifyInstance
  readonly sheet: Sheet
  readonly recovery: OrphanRecovery
}

interface StopLogger {
  info(object: object, message: string): void
  error(object: object, message: string): void
}

/**
 * The time limits, in milliseconds, for the runs, the requests under way, and the sheet: together less than 5 seconds.
 */
const RUNS_MS = 1000
const REQUESTS_MS = 1500
const SHEET_MS = 2000

/**
 * Stops the server on a signal: stops runs, ends event streams, finishes requests and the commit under way, and exits
 * with 0 within 5 seconds. Returns a function that does the same without a signal.
 */
export function stopOnSignal(running: Running, logger: StopLogger): () => void {
  const stop = (): void => {
    void stopServer(running)
      .catch((error: unknown) => logger.error({ err: error }, 'stopping failed'))
      .finally(() => process.exit(0))
  }
  onInterrupt((signal) => {
    logger.info({ signal }, 'stopping')
    stop()
  })
  return stop
}

/** Stops a server within 5 seconds: its runs, the requests under way, and the sheet. */
export async function stopServer({ app, sheet, recovery }: Running): Promise<void> {
  // Before the event streams end, so that subscribers receive the ends of the runs (D40).
  await within(RUNS_MS, Promise.all([sheet.stopRuns(), recovery.stop()]))
  const appClosed = app.close()
  await within(REQUESTS_MS, appClosed)
  await within(SHEET_MS, Promise.all([sheet.close(), appClosed]))
}

/** Waits for a promise, at most `ms` milliseconds. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  try {
    await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
