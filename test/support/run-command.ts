import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { commandEnvironment, type Ran, type RunOptions } from './run-colophon.ts'

/** A command to run in the thread. */
export interface CommandRequest {
  readonly args: readonly string[]
  readonly input: string
  readonly env: NodeJS.ProcessEnv
}

let thread: Worker | null = null
let last: Promise<unknown> = Promise.resolve()

/**
 * Runs the command `colophon` to its end like `runColophon`, but in a thread of this process that has loaded it once: without the half
 * second that a process takes. Not for tests of the process itself: its streams, signals and title.
 */
export function runCommand(args: readonly string[], options: Omit<RunOptions, 'cwd'> = {}): Promise<Ran> {
  const { input = '', env = {} } = options
  const ran = last.then(() => runInThread({ args, input, env: commandEnvironment(env) }))
  last = ran.catch(() => undefined)
  return ran
}

async function runInThread(request: CommandRequest): Promise<Ran> {
  const worker = (thread ??= new Worker(new URL('command-thread.ts', import.meta.url), { execArgv: [] }))
  const ended = new AbortController()
  const end = (): void => ended.abort(new Error('the command ended its process'))
  worker.once('exit', end).ref()
  worker.postMessage(request)
  try {
    const [ran] = (await once(worker, 'message', ended)) as [Ran]
    return ran
  } catch (error) {
    // The thread has ended or its state is unknown: the next command needs another.
    thread = null
    throw error
  } finally {
    worker.off('exit', end)
    worker.unref()
  }
}
