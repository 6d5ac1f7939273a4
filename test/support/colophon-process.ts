import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'colophon.js')

/** The exit and the output of a process. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A running command `colophon`. */
export class ColophonProcess {
  readonly #child: ChildProcess
  readonly #ended: Promise<Ended>
  #stdout = ''
  #stderr = ''
  #wake: () => void = () => undefined

  /**
   * Starts it with these arguments, under this Node or another, with `env` added to the environment. With `stdin` a pipe, {@link write}
   * writes to its standard input. It is killed when the test ends.
   */
  constructor(
    t: Pick<TestContext, 'after'>,
    args: readonly string[],
    {
      node = process.execPath,
      env = {},
      stdin = 'ignore',
    }: { node?: string | undefined; env?: NodeJS.ProcessEnv; stdin?: 'ignore' | 'pipe' } = {},
  ) {
    this.#child = spawn(node, [BIN, ...args], {
      stdio: [stdin, 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    this.#child.stdout?.on('data', (chunk) => {
      this.#stdout += String(chunk)
      this.#wake()
    })
    this.#child.stderr?.on('data', (chunk) => {
      this.#stderr += String(chunk)
      this.#wake()
    })
    this.#ended = once(this.#child, 'close').then(([code, signal]) => {
      this.#wake()
      return {
        code: code as number | null,
        signal: signal as NodeJS.Signals | null,
        stdout: this.#stdout,
        stderr: this.#stderr,
      }
    })
    onEnd(t, async () => {
      this.#child.kill('SIGKILL')
      await this.#ended
    })
  }

  /** Returns the port in its start message. */
  async port(): Promise<number> {
    const text = await this.#waitFor(() => (this.#stdout.includes('\n') ? this.#stdout : undefined))
    return Number(/^Colophon serves \S+ at http:\/\/\S+:(\d+)\n/.exec(text)?.[1])
  }

  /** Waits until it has printed a text. */
  async said(text: string): Promise<void> {
    await this.#waitFor(() => (this.#stdout.includes(text) ? text : undefined))
  }

  /** Waits until it has logged a text. */
  async logged(text: string): Promise<void> {
    await this.#waitFor(() => (this.#stderr.includes(text) ? text : undefined))
  }

  /** Everything that it has logged so far. */
  get stderr(): string {
    return this.#stderr
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /**
   * Returns the bytes of the heap and of the whole process after a garbage collection, and the number of open connections, for
   * a process with `report-memory.mjs`.
   */
  async memory(): Promise<[heap: number, rss: number, connections: number]> {
    const from = this.#stderr.length
    this.#child.kill('SIGUSR2')
    const report = /^memory (\d+) (\d+) (\d+)\n/m
    const text = await this.#waitFor(() => report.exec(this.#stderr.slice(from))?.[0])
    const [, heap, rss, connections] = report.exec(text) ?? []
    return [Number(heap), Number(rss), Number(connections)]
  }

  /** Writes to its standard input, which stays open. */
  write(text: string): void {
    this.#child.stdin?.write(text)
  }

  /** Closes its standard output, as `| true` does. */
  closeOutput(): void {
    this.#child.stdout?.destroy()
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  end(): Promise<Ended> {
    return this.#ended
  }

  async #waitFor(found: () => string | undefined): Promise<string> {
    for (;;) {
      const text = found()
      if (text !== undefined) return text
      if (this.#child.exitCode !== null) throw new Error(`colophon ended: ${this.#stdout}${this.#stderr}`)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }
}
