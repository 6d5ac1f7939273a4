import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'
import { OFFERS, writeSheet } from './sheet-fixture.ts'

/** A sheet of offers whose rates come from a server that holds back its responses. */
export class HeldRates {
  readonly sheet: string
  readonly #held: ServerResponse[]
  #wake: () => void = () => undefined

  private constructor(sheet: string, held: ServerResponse[]) {
    this.sheet = sheet
    this.#held = held
  }

  /** Starts it with this many offers, each in another currency. */
  static async start(t: TestContext, offers: number): Promise<HeldRates> {
    const held: ServerResponse[] = []
    let arrived = (): void => undefined
    const server = createServer((_request, response) => {
      held.push(response)
      arrived()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onEnd(t, () => server.close().closeAllConnections())
    const { port } = server.address() as AddressInfo
    const records = Array.from({ length: offers }, (_, index) => ({
      id: `o${index}`,
      title: 'x',
      currency: `C${index}`,
    }))
    const derivation = OFFERS.derivations['rate.yaml'] ?? ''
    const sheet = await writeSheet(t, {
      records,
      derivations: { 'rate.yaml': derivation.replace('https://rates.example', `http://127.0.0.1:${port}`) },
    })
    const rates = new HeldRates(sheet, held)
    arrived = () => rates.#wake()
    return rates
  }

  /** Waits until this many calls are held back. */
  async waiting(count: number): Promise<void> {
    while (this.#held.length < count) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }

  /** Responds to this many of the waiting calls, the oldest first. */
  answer(count: number): void {
    for (const response of this.#held.splice(0, count)) response.end('{"rate":1}')
  }
}
