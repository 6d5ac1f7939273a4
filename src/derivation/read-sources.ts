import { createHash } from 'node:crypto'
import type { Derivation, Source } from './definition/derivation-kind.ts'

/** Returns a source with this content, or without any because of a problem. */
export function sourceOf(path: string, content: Uint8Array | { readonly problem: string }): Source {
  const bytes = content instanceof Uint8Array ? content : null
  const problem = content instanceof Uint8Array ? '' : content.problem
  const version = createHash('sha256')
    .update(bytes ?? problem)
    .digest('hex')
  return { path, bytes, problem, version: bytes === null ? `!${version}` : version }
}

/** Returns a derivation with the content of its sources, which `read` returns; the same one if it has none. */
export async function readSources(
  derivation: Derivation,
  read: (path: string) => Source,
): Promise<Derivation> {
  const { kind, sourcePaths } = derivation
  if (kind.withSources === undefined || sourcePaths.length === 0) return derivation
  const sources = sourcePaths.map((path) => read(path))
  const digest = createHash('sha256')
  for (const { path, version } of sources) digest.update(`${path}\n${version}\n`)
  const spec = await kind.withSources(derivation.spec, sources)
  return { ...derivation, spec, sources: digest.digest('hex') }
}
