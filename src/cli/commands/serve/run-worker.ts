import { pino } from 'pino'
import { ServiceError } from '../../../errors/service-error.ts'
import { usedResources } from '../../../sheet/calls/used-resources.ts'
import { openSheet, type SheetOptions } from '../../../sheet/open-sheet.ts'
import type { Sheet } from '../../../sheet/sheet.ts'
import { startWorker, type Worker } from '../../../sheet/runs/start-worker.ts'
import { printStartMessage, resourceLines } from './start-message.ts'
import { callTransport, type TransportOptions } from '../../options/call-transport.ts'
import { onInterrupt } from '../../terminal/interrupts.ts'
import { errorText } from '../../terminal/error-text.ts'
import { inOneLine } from '../../terminal/one-line.ts'

/** The arguments of `worker`. */
export interface WorkOptions extends TransportOptions, Pick<SheetOptions, 'signKey' | 'publish'> {
  /** The URL of the sheet's store. */
  readonly store: string
  readonly scripts: SheetOptions['scripts']
  /** The time, in milliseconds, that calls under way may take when it is stopped. */
  readonly graceMs: number
  readonly logLevel: string
}

/**
 * Computes cells of a sheet's runs until SIGTERM or SIGINT; a second signal does not wait for calls under way. Prints
 * its start and the hosts that it calls on standard output; the log goes to standard error. When it cannot start,
 * prints one line on standard error and exits with 1.
 */
export async function work(options: WorkOptions): Promise<void> {
  const logger = pino({ level: options.logLevel }, pino.destination({ fd: 2, sync: true }))
  try {
    const sheet = await openSheet(options.store, {
      transport: callTransport(options),
      scripts: options.scripts,
      handOverRuns: true,
      signKey: options.signKey,
      publish: options.publish,
      logger,
    })
    const { worker, resources } = await begin(sheet, options)
    const stop = stopOnSignal({ sheet, worker, graceMs: options.graceMs })
    await printStartMessage(`Colophon works for ${sheet.name}\n${resources}`, stop)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    process.stderr.write(`colophon: ${inOneLine(errorText(error))}\n`)
    process.exitCode = 1
  }
}

/** Starts the worker. Closes the sheet when that fails. */
async function begin(
  sheet: Sheet,
  { stubFile }: WorkOptions,
): Promise<{ worker: Worker; resources: string }> {
  try {
    const resources = resourceLines(await usedResources(sheet), { stubbed: stubFile !== null })
    return { worker: await startWorker(sheet), resources }
  } catch (error) {
    await sheet.close()
    throw error
  }
}

interface Working {
  readonly sheet: Sheet
  readonly worker: Worker
  readonly graceMs: number
}

function stopOnSignal({ sheet, worker, graceMs }: Working): () => void {
  const stop = (): void => {
    // Another process takes over a run that it coordinates at once.
    void Promise.all([worker.stop(graceMs), sheet.stopRuns()])
      .then(() => sheet.close())
      .catch((error: unknown) => sheet.logger.error({ err: error }, 'stopping failed'))
      .finally(() => process.exit(0))
  }
  onInterrupt(() => {
    sheet.logger.info({}, 'stopping: waiting for calls under way, a second signal ends them')
    stop()
  })
  return stop
}
