import type { FastifyInstance } from 'fastify'

/** A method on a path as an app registers it, with `:name` for a parameter; `HEAD` is separate. */
export interface AppRoute {
  readonly method: string
  readonly path: string
}

/** Collects every route that an app registers from now on; complete once the app is ready. */
export function listRoutes(app: FastifyInstance): readonly AppRoute[] {
  const routes: AppRoute[] = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) routes.push({ method: one, path: url })
  })
  return routes
}
