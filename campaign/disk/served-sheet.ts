import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { isStoreUrl } from '../../src/sheet/store-url.ts'

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'colophon.js')
const TOKEN = 'k'.repeat(43)
const HEADERS = {
  'content-type': 'application/json',
  'x-csrf-token': TOKEN,
  cookie: `svc_csrf=${TOKEN}`,
}

/** The actor of all writes of these campaigns. */
export const ACTOR = 'agent:campaign'

/** An answer of the server. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** The end of a server process. */
export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stderr: string
}

/** A server of a sheet in a process group of its own. */
export class ServedSheet {
  readonly #child: ChildProcess
  readonly #ended: Promise<End>
  #url = ''
  #stderr = ''
  #hasEnded = false

  private constructor(child: ChildProcess) {
    this.#child = child
    child.stderr?.on('data', (chunk) => {
      this.#stderr += String(chunk)
    })
    this.#ended = once(child, 'close').then(([code, signal]) => {
      this.#hasEnded = true
      return { code: code as number | null, signal: signal as NodeJS.Signals | null, stderr: this.#stderr }
    })
  }

  /** Serves the sheet of a directory, or at the URL of a store; returns its end where it does not start. */
  static async start(place: string, env: NodeJS.ProcessEnv = {}): Promise<ServedSheet | End> {
    const sheet = isStoreUrl(place) ? ['--store', place] : [place]
    const args = [BIN, 'serve', ...sheet, '--port', '0', '--actor', ACTOR, '--log-level', 'error']
    const child = spawn(process.execPath, args, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    const served = new ServedSheet(child)
    const { promise: started, resolve } = Promise.withResolvers<string>()
    let stdout = ''
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk)
      const url = /at (http:\S+)\n/.exec(stdout)?.[1]
      if (url !== undefined) resolve(url)
    })
    const outcome = await Promise.race([started, served.#ended])
    if (typeof outcome !== 'string') return outcome
    served.#url = outcome
    return served
  }

  /** Whether the process has ended by itself or was stopped. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** The log so far. */
  get log(): string {
    return this.#stderr
  }

  /** Sends a request; resolves to null when the connection broke before its answer. */
  async request(method: string, path: string, body?: object): Promise<Answer | null> {
    try {
      const answer = await fetch(this.#url + path, {
        method,
        headers: HEADERS,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: answer.status, body: await answer.json() }
    } catch (error) {
      if (error instanceof SyntaxError) throw error
      return null
    }
  }

  /** Sends a signal to the whole group and waits until the server is gone. */
  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<End> {
    if (!this.#hasEnded) process.kill(signal === 'SIGKILL' ? -this.pid : this.pid, signal)
    return this.#ended
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }
}
