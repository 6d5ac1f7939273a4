import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import type { TestContext } from 'node:test'
import { findScript } from './find-program.ts'
import { onEnd } from './on-end.ts'
import { BIN } from './run-colophon.ts'

const script = findScript()

/** The reason why there is no terminal, or false, for a test's option `skip`. */
export const noTerminal: string | false =
  process.platform === 'linux' ? script.skip : 'only the script of Linux is known'

export interface TerminalOptions {
  readonly columns?: number
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
}

/** The settings of the machine's own terminal must not count. */
const PLAIN_ENVIRONMENT = {
  SHELL: '/bin/sh',
  TERM: 'xterm-256color',
  COLOPHON_ACTOR: 'human:ann',
  // For Node a CI is a terminal without colours, and so are several others with their own variables.
  CI: undefined,
  TEAMCITY_VERSION: undefined,
  TF_BUILD: undefined,
  FORCE_COLOR: undefined,
  NO_COLOR: undefined,
  NODE_DISABLE_COLORS: undefined,
}

/** A command at its own terminal: its output, and a keyboard. */
export class Terminal {
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>
  #text = ''
  #wake: () => void = () => undefined

  /** Starts `colophon` with these arguments, or commands of a shell; killed when the test ends. */
  constructor(
    t: TestContext,
    command: readonly string[] | string,
    { columns = 80, env = {}, cwd = process.cwd() }: TerminalOptions = {},
  ) {
    const text =
      typeof command === 'string'
        ? command
        : `exec ${[process.execPath, BIN, ...command].map(quoted).join(' ')}`
    this.#child = spawn(script.path, ['-qefc', `stty cols ${columns} rows 24\n${text}`, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'inherit'],
      cwd,
      env: { ...process.env, ...PLAIN_ENVIRONMENT, ...env },
    })
    this.#child.stdout?.on('data', (chunk) => {
      this.#text += String(chunk)
      this.#wake()
    })
    this.#ended = once(this.#child, 'close').then(([code]) => {
      this.#wake()
      return code as number | null
    })
    onEnd(t, async () => {
      this.#child.kill('SIGKILL')
      await this.#ended
    })
  }

  /** The output, with control sequences. */
  get raw(): string {
    return this.#text
  }

  /** The output as text, in lines as a program writes them. */
  get text(): string {
    return stripVTControlCharacters(this.#text).replaceAll('\r\n', '\n')
  }

  /** The final contents of lines that were redrawn. */
  get left(): string {
    const lines = this.text.split('\n').map((line) => line.replace(/\r+$/, ''))
    return lines.map((line) => line.slice(line.lastIndexOf('\r') + 1)).join('\n')
  }

  /** Waits until the output matches. */
  async shows(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) {
      if (this.#child.exitCode !== null) throw new Error(`ended without ${String(pattern)}: ${this.text}`)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }

  /** Types; `\u0003` is Ctrl-C. */
  type(keys: string): void {
    this.#child.stdin?.write(keys)
  }

  /** Waits for the end; returns the exit code. */
  end(): Promise<number | null> {
    return this.#ended
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
