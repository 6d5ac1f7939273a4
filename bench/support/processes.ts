import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
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

/** A program file and its arguments. */
export interface Command {
  readonly file: string
  readonly args: readonly string[]
}

/** Returns the command that runs a script, named by its path in this repository or by its address, on this Node. */
export function nodeCommand(script: string | URL, args: readonly string[]): Command {
  return {
    file: process.execPath,
    args: [fileURLToPath(new URL(script, new URL('../../', import.meta.url))), ...args],
  }
}

const POLL_MS = 2

/** Starts a script that prints its address on its first line of output. */
export function startServer(
  script: string | URL,
  args: readonly string[] = [],
  onStart?: OnStart,
): Promise<ServerProcess> {
  return startCommand(nodeCommand(script, args), onStart)
}

/** Starts a program that prints its address on its first line of output. */
export async function startCommand(command: Command, onStart?: OnStart): Promise<ServerProcess> {
  const { child, ended } = start(command)
  onStart?.(child.pid!)
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), ended])) as [
    string,
  ]
  const url = /http:\/\/\S+/.exec(line)?.[0]
  if (url === undefined) throw new Error(`${nameOf(command)} said no address: ${line}`)
  child.stdout!.resume()
  return serverProcess(child, url)
}

/** Starts a program at a free port of 127.0.0.1, and waits until it listens there. */
export async function startServerAt(commandFor: (port: number) => Command): Promise<ServerProcess> {
  const port = await freePort()
  const { child, ended } = start(commandFor(port))
  child.stdout!.resume()
  await Promise.race([untilItListens(port), ended])
  return serverProcess(child, `http://127.0.0.1:${port}`)
}

/** The place of a sheet: a directory, or the URL of a store. */
export type SheetPlace = string

/** Whether a place is a store in PostgreSQL. */
export function isStore(place: SheetPlace): boolean {
  return /^postgres(?:ql)?:/.test(place)
}

/** Returns the arguments that name a sheet on the command line: its directory, or a store. */
export function placeArgs(place: SheetPlace): readonly string[] {
  return isStore(place) ? ['--store', place] : [place]
}

/** Returns the command that serves a sheet. */
export function serveCommand(place: SheetPlace, args: readonly string[] = []): Command {
  const usual = ['--port', '0', '--actor', 'agent:bench', '--log-level', 'error']
  return nodeCommand('bin/colophon.js', ['serve', ...placeArgs(place), ...usual, ...args])
}

/** Serves a sheet. */
export function serveSheet(
  place: SheetPlace,
  args: readonly string[] = [],
  onStart?: OnStart,
): Promise<ServerProcess> {
  return startCommand(serveCommand(place, args), onStart)
}

/** Starts a worker for a sheet in a store; resolves when it is ready. */
export async function startWorker(store: string): Promise<ServerProcess> {
  const { child, ended } = start(nodeCommand('bin/colophon.js', ['worker', '--store', store, '--grace', '0']))
  await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), ended])
  child.stdout!.resume()
  return serverProcess(child, '')
}

/** Runs a script to its end. */
export function runProgram(script: string | URL, args: readonly string[], onStart?: OnStart): Promise<void> {
  return runCommand(nodeCommand(script, args), onStart)
}

/** Runs a program to its end. */
export async function runCommand(command: Command, onStart?: OnStart): Promise<void> {
  const { child } = start(command)
  child.stdout!.resume()
  onStart?.(child.pid!)
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`${nameOf(command)} ended with ${String(code)}`)
}

/** Spawns a program. `ended` rejects when it ends or cannot be started, for code that waits for its output. */
function start(command: Command): { child: ChildProcess; ended: Promise<never> } {
  const child = spawn(command.file, command.args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`${nameOf(command)} ended with ${String(code)}`)),
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

function nameOf({ file, args }: Command): string {
  return [file, ...args].join(' ')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function untilItListens(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch {
      await sleep(POLL_MS)
    } finally {
      socket.destroy()
    }
  }
}
