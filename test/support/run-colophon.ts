import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

export const BIN = join(import.meta.dirname, '..', '..', 'bin', 'colophon.js')

/** The exit and the output of a command. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** Its standard input, by default empty. */
  readonly input?: string
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
}

/** Returns the environment of a command: that of the tests without variables that change its output, and with `env`. */
export function commandEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const clean = { ...process.env }
  for (const name of ['COLOPHON_ACTOR', 'COLOPHON_STORE', 'FORCE_COLOR', 'NO_COLOR']) delete clean[name]
  return { ...clean, ...env }
}

/** Runs the command `colophon` to its end, with pipes for its streams. */
export async function runColophon(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { input = '', env = {}, cwd } = options
  const child = spawn(process.execPath, [BIN, ...args], {
    env: commandEnvironment(env),
    ...(cwd === undefined ? {} : { cwd }),
    timeout: 60_000,
  })
  const { promise: code, resolve, reject } = Promise.withResolvers<number | null>()
  child.on('error', reject)
  child.on('close', resolve)
  // A command that reads no input may have ended.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}
