import type { FastifyInstance, RouteOptions } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { Operation } from './operation.ts'

/** A route of the OpenAPI document. */
export interface RouteOperation {
  /** In lower case. */
  readonly method: string
  /** With `{id}` for a parameter. */
  readonly path: string
  readonly operation: Operation
  /** Whether it requires the CSRF token. */
  readonly writes: boolean
  readonly params: TObject | null
  readonly query: TObject | null
  readonly body: unknown
  /** The JSON responses by status. */
  readonly response: Readonly<Record<string, TSchema>>
}

/** Collects the operations of the routes that the app and its plugins add from now on; complete once the app is ready. */
export function listOperations(app: FastifyInstance, write: unknown): readonly RouteOperation[] {
  const operations: RouteOperation[] = []
  app.addHook('onRoute', (route) => {
    const operation = route.config?.operation
    if (operation === undefined) return
    // Fastify adds HEAD with GET.
    for (const method of [route.method].flat().filter((one) => one !== 'HEAD')) {
      operations.push(readRoute(route, { method, operation, write }))
    }
  })
  return operations
}

function readRoute(
  { url, schema, onRequest }: RouteOptions,
  { method, operation, write }: { method: string; operation: Operation; write: unknown },
): RouteOperation {
  return {
    method: method.toLowerCase(),
    path: url.replaceAll(/:(\w+)/g, '{$1}'),
    operation,
    writes: [onRequest].flat().some((one) => one === write),
    params: (schema?.params ?? null) as TObject | null,
    query: (schema?.querystring ?? null) as TObject | null,
    body: operation.body ?? schema?.body ?? null,
    response: (schema?.response ?? {}) as Record<string, TSchema>,
  }
}
