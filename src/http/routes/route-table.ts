import type { FastifyInstance } from 'fastify'
import { SheetError, type ServiceError } from '../../errors/service-error.ts'
import { MethodError } from '../middleware/error-handler.ts'

/** Knows the methods of every path, to distinguish a wrong method on a known path from an unknown path (D36). */
export class RouteTable {
  readonly #methods = new Map<string, Set<string>>()

  /** Registers the routes that the app and its plugins add from now on. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      const methods = this.#methods.get(url) ?? new Set()
      for (const one of [method].flat()) methods.add(one)
      this.#methods.set(url, methods)
    })
  }

  /** Returns the error for a method on a path without a handler: MethodError, or SheetError for an unknown path. */
  explain(method: string, path: string): ServiceError {
    const allowed = new Set<string>()
    for (const [pattern, methods] of this.#methods) {
      if (matches(pattern, path)) for (const one of methods) allowed.add(one)
    }
    if (allowed.size === 0)
      return new SheetError(
        `no such path: ${path.slice(0, 200)}; the records are at /api/records`,
        'unknown_path',
      )
    return new MethodError(method, path.slice(0, 200), [...allowed].toSorted())
  }
}

/** Whether a path matches a pattern of fixed segments and `:parameters`; patterns with `*` are files, not resources. */
function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const segments = path.split('/')
  return (
    expected.length === segments.length &&
    expected.every((part, index) =>
      part.startsWith(':') ? segments[index] !== '' : part === segments[index],
    )
  )
}
