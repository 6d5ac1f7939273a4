import type { TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { startBrowser } from './browser.ts'
import { ColophonProcess } from './colophon-process.ts'
import { SheetViewer } from './viewer.ts'

/** The viewer of a sheet whose server can be killed and restarted, or has further options. */
export class RestartableViewer extends SheetViewer {
  readonly #t: TestContext
  readonly #args: readonly string[]
  #server: ColophonProcess

  private constructor(t: TestContext, browser: Browser, server: ColophonProcess, args: readonly string[]) {
    super(`http://127.0.0.1:${args.at(-1)}`, browser)
    this.#t = t
    this.#args = args
    this.#server = server
  }

  /** Serves the sheet of a directory with further options; it ends with the test. */
  static async serving(
    t: TestContext,
    directory: string,
    options: readonly string[] = [],
  ): Promise<RestartableViewer> {
    const args = ['serve', directory, ...options, '--port']
    const server = new ColophonProcess(t, [...args, '0'])
    const [port, browser] = await Promise.all([server.port(), startBrowser(t)])
    return new RestartableViewer(t, browser, server, [...args, String(port)])
  }

  /** Kills the server. */
  async kill(): Promise<void> {
    this.#server.kill('SIGKILL')
    await this.#server.end()
  }

  /** Restarts the server on the same port. */
  async restart(): Promise<void> {
    this.#server = new ColophonProcess(this.#t, this.#args)
    await this.#server.port()
  }
}
