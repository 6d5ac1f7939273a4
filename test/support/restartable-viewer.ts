import type { TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { startBrowser } from './browser.ts'
import { serveHere, type ServedHere } from './serve-here.ts'
import { SheetViewer } from './viewer.ts'

/** The viewer of a sheet whose server can be stopped and restarted. */
export class RestartableViewer extends SheetViewer {
  readonly #t: TestContext
  readonly #directory: string
  #server: ServedHere

  private constructor(t: TestContext, browser: Browser, directory: string, server: ServedHere) {
    super(server.url, browser)
    this.#t = t
    this.#directory = directory
    this.#server = server
  }

  /** Serves the sheet of a directory; it ends with the test. */
  static async serving(t: TestContext, directory: string): Promise<RestartableViewer> {
    const server = await serveHere(t, directory)
    return new RestartableViewer(t, await startBrowser(t), directory, server)
  }

  /** Ends the server, and its connections in the middle of what they transfer. */
  async stop(): Promise<void> {
    await this.#server.stop()
  }

  /** Restarts the server on the same port. */
  async restart(): Promise<void> {
    this.#server = await serveHere(this.#t, this.#directory, { port: Number(new URL(this.url).port) })
  }
}
