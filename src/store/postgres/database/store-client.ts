import { Client } from 'pg'
import type { StoreClientConfig } from './client-config.ts'
import { passwordFromFile, type PasswordPlace } from './password-file.ts'

/**
 * A client of node-postgres that leaves no connection open when it cannot connect, reads password files, and makes its
 * settings.
 */
export class StoreClient extends Client {
  readonly #begin: string

  constructor(config: StoreClientConfig) {
    super(config)
    this.#begin = config.begin
    // Errors of a connection that is lost while it makes its settings: its request reports them. Pools listen only
    // afterwards.
    this.on('error', () => undefined)
    // node-postgres reads the file too, but with a deprecation warning each time.
    const known = this as { password: unknown }
    known.password ??= (place: PasswordPlace) => passwordFromFile(place)
  }

  override connect(): Promise<Client>
  override connect(callback: ((error: Error) => void) | ((error: null, client: Client) => void)): void
  override connect(
    callback?: ((error: Error) => void) | ((error: null, client: Client) => void),
  ): Promise<Client> | void {
    if (callback === undefined) return this.#connect()
    const tell = callback as (error: Error | null, client?: Client) => void
    this.#connect().then((client) => tell(null, client), tell)
  }

  async #connect(): Promise<Client> {
    try {
      const client = await super.connect()
      await super.query(this.#begin)
      return client
    } catch (error) {
      // After some errors, such as a missing password, the server would wait for more messages, and so would this process.
      socketOf(this).destroy()
      throw error
    }
  }
}

/** Returns the socket of a client. */
export function socketOf(client: Client): {
  destroy(): void
  on(event: 'data', listener: (bytes: Buffer) => void): void
} {
  return (client as unknown as { connection: { stream: ReturnType<typeof socketOf> } }).connection.stream
}
