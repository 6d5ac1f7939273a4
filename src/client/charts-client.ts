import type { ChartAnswer, ChartBody, ChartListAnswer } from '../wire/records/charts.ts'
import type { ActorOptions, CallOptions, Connection } from './connection.ts'

/** A chart to save. */
export type NewChart = Omit<ChartBody, 'actor'>

/** `/api/charts`. */
export class ChartsClient {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns all charts by name. */
  async list(options?: CallOptions): Promise<ChartAnswer[]> {
    return (await this.#connection.get<ChartListAnswer>('/api/charts', {}, options)).charts
  }

  create(chart: NewChart, options?: ActorOptions): Promise<ChartAnswer> {
    return this.#connection.writeAs('/api/charts', chart, options)
  }

  replace(id: string, chart: NewChart, options?: ActorOptions): Promise<ChartAnswer> {
    return this.#connection.writeAs(pathOf(id), chart, options, { method: 'PUT' })
  }

  async delete(id: string, { actor, signal }: ActorOptions = {}): Promise<void> {
    const headers = this.#connection.actorHeader(actor)
    await this.#connection.write('DELETE', pathOf(id), { headers, signal })
  }
}

function pathOf(id: string): string {
  return `/api/charts/${encodeURIComponent(id)}`
}
