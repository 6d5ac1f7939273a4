import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { ExampleSheet } from './example.ts'
import { onEnd } from './on-end.ts'

/** A proxy before the API of the example, which can hold back or refuse responses. */
export class GatedApi {
  readonly #target: string
  readonly #waiting: (() => void)[] = []
  #isClosed = false
  #refused: RegExp | null = null

  private constructor(port: number) {
    this.#target = `http://127.0.0.1:${port}`
  }

  /** Makes the derivations of the sheet call the gate, which is open, instead of the API. */
  static async before(t: TestContext, { path, api }: ExampleSheet): Promise<GatedApi> {
    const gate = new GatedApi(api.port)
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        void gate.#answer(request.method ?? 'GET', request.url ?? '/', Buffer.concat(chunks), response)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onEnd(t, () => {
      gate.open()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
    const { port } = server.address() as AddressInfo
    const folder = join(path, 'derivations')
    for (const name of await readdir(folder)) {
      const file = join(folder, name)
      const text = await readFile(file, 'utf8')
      await writeFile(file, text.replaceAll(`127.0.0.1:${api.port}`, `127.0.0.1:${port}`))
    }
    return gate
  }

  /** Holds back all responses from now on. */
  close(): void {
    this.#isClosed = true
  }

  /** Releases this many of the held responses and keeps holding others; without a number, opens the gate. */
  open(count?: number): void {
    if (count === undefined) this.#isClosed = false
    for (const pass of this.#waiting.splice(0, count ?? Infinity)) pass()
  }

  /** The number of held responses. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Responds with 418 to matching paths; null for none. */
  refuse(path: RegExp | null): void {
    this.#refused = path
  }

  async #answer(method: string, path: string, body: Buffer, response: ServerResponse): Promise<void> {
    if (this.#isClosed) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (this.#refused?.test(path)) {
      response.writeHead(418, { 'content-type': 'application/json' }).end('{"error":"a teapot"}')
      return
    }
    const answer = await fetch(this.#target + path, {
      method,
      ...(method === 'GET' ? {} : { body: body.toString(), headers: { 'content-type': 'application/json' } }),
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  }
}
