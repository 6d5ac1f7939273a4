import type { FastifyInstance } from 'fastify'
import type { OrphanRecovery } from '../../../sheet/runs/coordination/orphan-recovery.ts'
import type { Sheet } from '../../../sheet/sheet.ts'
import { onInterrupt } from '../../terminal/interrupts.ts'

/** What there is to stop. */
export interface Running {
  readonly app: FastifyInstance
  readonly sheet: Sheet
  readonly recovery: OrphanRecovery
  readonly logger: {
    info(object: object, message: string): void
    error(object: object, message: string): void
  }
}

/** Milliseconds for the runs, the requests under way, and then the sheet: together less than 5 seconds. */
const RUNS_MS = 1000
const REQUESTS_MS = 1500
const SHEET_MS = 2000

/**
 * Stops the server on a signal: stops runs, ends event streams, lets requests under way finish, finishes the commit under
 * way, and exits with 0 within 5 seconds whatever clients do. Returns what does the same without a signal.
 */
export function stopOnSignal({ app, sheet, recovery, logger }: Running): () => void {
  const stop = (): void => {
    void stopAll({ app, sheet, recovery })
      .catch((error: unknown) => logger.error({ err: error }, 'stopping went wrong'))
      .finally(() => process.exit(0))
  }
  onInterrupt((signal) => {
    logger.info({ signal }, 'stopping')
    stop()
  })
  return stop
}

async function stopAll({ app, sheet, recovery }: Omit<Running, 'logger'>): Promise<void> {
  // Before the event streams end: subscribers are told how the runs ended (D40).
  await within(RUNS_MS, Promise.all([sheet.stopRuns(), recovery.stop()]))
  const appClosed = app.close()
  await within(REQUESTS_MS, appClosed)
  await within(SHEET_MS, Promise.all([sheet.close(), appClosed]))
}

/** Waits for a promise, but not for longer than this. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  try {
    await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
