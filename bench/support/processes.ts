import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string
  readonly process: ChildProcess
  stop(): Promise<void>
}

/** Starts a program that says its address on its first line of output. */
export async function startServer(script: string, args: readonly string[] = []): Promise<ServerProcess> {
  const path = fileURLToPath(new URL(`../../${script}`, import.meta.url))
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${script} ended with ${String(code)}`))),
  ])) as [string]
  const url = /http:\/\/\S+/.exec(line)?.[0]
  if (url === undefined) throw new Error(`${script} said no address: ${line}`)
  child.stdout.resume()
  return {
    url,
    process: child,
    stop: async () => {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** Serves a sheet. */
export function serveSheet(directory: string, args: readonly string[] = []): Promise<ServerProcess> {
  return startServer('bin/colophon.js', [
    'serve',
    directory,
    '--port',
    '0',
    '--actor',
    'agent:bench',
    '--log-level',
    'error',
    ...args,
  ])
}
