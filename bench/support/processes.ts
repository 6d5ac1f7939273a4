import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** A server in its own process. */
export interface ServerProcess {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/** Receives the process id as soon as it is known. */
export type OnStart = (pid: number) => void

/** Starts a program that prints its address on its first line of output. */
export async function startServer(
  script: string | URL,
  args: readonly string[] = [],
  onStart?: OnStart,
): Promise<ServerProcess> {
  const { child, ended } = start(script, args)
  onStart?.(child.pid!)
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), ended])) as [
    string,
  ]
  const url = /http:\/\/\S+/.exec(line)?.[0]
  if (url === undefined) throw new Error(`${String(script)} said no address: ${line}`)
  child.stdout!.resume()
  return serverProcess(child, url)
}

/** Starts a program with a given address, and waits until it responds there. */
export async function startServerAt(
  url: string,
  script: string | URL,
  args: readonly string[],
): Promise<ServerProcess> {
  const { child, ended } = start(script, args)
  child.stdout!.resume()
  await Promise.race([untilItAnswers(url), ended])
  return serverProcess(child, url)
}

/** The place of a sheet: a directory, or the URL of a store. */
export type SheetPlace = string

/** Returns the arguments that name a sheet on the command line: its directory, or a store. */
export function placeArgs(place: SheetPlace): readonly string[] {
  return /^postgres(?:ql)?:/.test(place) ? ['--store', place] : [place]
}

/** Serves a sheet. */
export function serveSheet(
  place: SheetPlace,
  args: readonly string[] = [],
  onStart?: OnStart,
): Promise<ServerProcess> {
  const usual = ['--port', '0', '--actor', 'agent:bench', '--log-level', 'error']
  return startServer('bin/colophon.js', ['serve', ...placeArgs(place), ...usual, ...args], onStart)
}

/** Starts a worker for a sheet in a store; resolves when it is ready. */
export async function startWorker(store: string): Promise<ServerProcess> {
  const { child, ended } = start('bin/colophon.js', ['worker', '--store', store, '--grace', '0'])
  await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), ended])
  child.stdout!.resume()
  return serverProcess(child, '')
}

/** Runs a program to its end. */
export async function runProgram(
  script: string | URL,
  args: readonly string[],
  onStart?: OnStart,
): Promise<void> {
  const { child } = start(script, args)
  child.stdout!.resume()
  onStart?.(child.pid!)
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${String(script)} ${args.join(' ')} ended with ${String(code)}`)
}

/**
 * Spawns a script, named by its path in this repository or by its address. `ended` rejects when it ends, for code that waits for its
 * output.
 */
function start(
  script: string | URL,
  args: readonly string[],
): { child: ChildProcess; ended: Promise<never> } {
  const path = fileURLToPath(new URL(script, new URL('../../', import.meta.url)))
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`${String(script)} ended with ${String(code)}`)),
  )
  ended.catch(() => {})
  return { child, ended }
}

function serverProcess(child: ChildProcess, url: string): ServerProcess {
  return {
    url,
    pid: child.pid!,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

async function untilItAnswers(url: string): Promise<void> {
  for (;;) {
    try {
      await (await fetch(url)).arrayBuffer()
      return
    } catch {
      await sleep(10)
    }
  }
}
