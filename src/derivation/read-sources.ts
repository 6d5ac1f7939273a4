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

/** Returns the sources at paths. */
export interface SourceReader {
  source(path: string): Source
  otherSheet(path: string): Promise<Source>
}

/**
 * Returns a derivation with the content of its sources; the same one if it has none. The file of a kind with steps is a source of its own,
 * so that an edit makes cells stale as a change of a source does.
 */
export async function readSources(derivation: Derivation, reader: SourceReader): Promise<Derivation> {
  const { kind, sourcePaths, sheetPaths } = derivation
  const hasSteps = kind.stepsOf !== undefined
  if (kind.withSources === undefined || (sourcePaths.length + sheetPaths.length === 0 && !hasSteps))
    return derivation
  const sources = sourcePaths.map((path) => reader.source(path))
  for (const path of sheetPaths) sources.push(await reader.otherSheet(path))
  const digest = createHash('sha256')
  if (hasSteps) digest.update(`${derivation.sha256}\n`)
  for (const { path, version } of sources) digest.update(`${path}\n${version}\n`)
  const spec = await kind.withSources(derivation.spec, sources)
  if (kind.versionOf !== undefined) digest.update(kind.versionOf(spec))
  return { ...derivation, spec, sources: digest.digest('hex') }
}
