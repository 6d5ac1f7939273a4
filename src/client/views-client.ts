import type { ViewAnswer, ViewBody, ViewListAnswer } from '../wire/records/views.ts'
import type { ActorOptions, CallOptions, Connection } from './connection.ts'

/** A view to save. */
export type NewView = Omit<ViewBody, 'actor'>

/** `/api/views`. */
export class ViewsClient {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns all views by name. */
  async list(options?: CallOptions): Promise<ViewAnswer[]> {
    return (await this.#connection.get<ViewListAnswer>('/api/views', {}, options)).views
  }

  create(view: NewView, options?: ActorOptions): Promise<ViewAnswer> {
    return this.#connection.writeAs('/api/views', view, options)
  }

  replace(id: string, view: NewView, options?: ActorOptions): Promise<ViewAnswer> {
    return this.#connection.writeAs(pathOf(id), view, options, { method: 'PUT' })
  }

  async delete(id: string, { actor, signal }: ActorOptions = {}): Promise<void> {
    const headers = this.#connection.actorHeader(actor)
    await this.#connection.write('DELETE', pathOf(id), { headers, signal })
  }
}

function pathOf(id: string): string {
  return `/api/views/${encodeURIComponent(id)}`
}
