import type { ChartAnswer, ChartBody } from '../wire/records/charts.ts'
import type { ViewAnswer, ViewBody } from '../wire/records/views.ts'
import type { ActorOptions, CallOptions, Connection } from './connection.ts'

/** A view to save. */
export type NewView = Omit<ViewBody, 'actor'>

/** A chart to save. */
export type NewChart = Omit<ChartBody, 'actor'>

/** Views and charts, by the path of their list, which is also the name of its member. */
interface Kinds {
  readonly views: { readonly saved: NewView; readonly answer: ViewAnswer }
  readonly charts: { readonly saved: NewChart; readonly answer: ChartAnswer }
}

/** `/api/views` and `/api/charts`. */
export class NamedClient<Kind extends keyof Kinds> {
  readonly #connection: Connection
  readonly #kind: Kind

  constructor(connection: Connection, kind: Kind) {
    this.#connection = connection
    this.#kind = kind
  }

  /** Returns all by name. */
  async list(options?: CallOptions): Promise<Kinds[Kind]['answer'][]> {
    const kind = this.#kind
    type Answer = Record<Kind, Kinds[Kind]['answer'][]>
    return (await this.#connection.get<Answer>(`/api/${kind}`, {}, options))[kind]
  }

  create(saved: Kinds[Kind]['saved'], options?: ActorOptions): Promise<Kinds[Kind]['answer']> {
    return this.#connection.writeAs(`/api/${this.#kind}`, saved, options)
  }

  replace(id: string, saved: Kinds[Kind]['saved'], options?: ActorOptions): Promise<Kinds[Kind]['answer']> {
    return this.#connection.writeAs(this.#pathOf(id), saved, options, { method: 'PUT' })
  }

  async delete(id: string, { actor, signal }: ActorOptions = {}): Promise<void> {
    const headers = this.#connection.actorHeader(actor)
    await this.#connection.write('DELETE', this.#pathOf(id), { headers, signal })
  }

  #pathOf(id: string): string {
    return `/api/${this.#kind}/${encodeURIComponent(id)}`
  }
}
