import type { JsonValue } from '../../../contract/json/json.ts'
import type { CellCommit, CellResult } from '../../cell-work.ts'
import type { ResultToStore } from '../../rules/commit-results.ts'
import { cacheEntryText } from '../../rows/stored-rows.ts'

type Computed = Extract<CellResult['result'], { kind: 'computed' }>

/** A commit as the writing thread takes it: JSON that is stored unchanged remains text. */
export interface CommitInText extends Omit<CellCommit, 'cells' | 'cache' | 'made'> {
  /** The provenance of each computed cell is JSON of an object. */
  readonly cells: readonly ResultToStore<string>[]
  readonly cache: readonly EntryInText[]
}

/** A {@link CacheEntry}. */
export interface EntryInText {
  readonly inputHash: string
  /** {@link cacheEntryText}. */
  readonly text: string
}

/** The common members of the cells of a target: most cells of a commit are of one. */
type CellsOf = Pick<CellResult, 'target' | 'sha256' | 'sources'>

/** A result; of a computed cell without its provenance, which has its own line. */
type Result = Exclude<CellResult['result'], Computed> | readonly [value: JsonValue, inputHash: string]

type Head = readonly [
  common: Omit<CellCommit, 'cells' | 'cache' | 'made' | 'responses' | 'recorded'>,
  targets: readonly CellsOf[],
  cells: readonly (readonly [target: number, key: number, version: string, result: Result])[],
  hashesOfEntries: readonly string[],
  responses: readonly ResponseInHead[],
  /** The number of lines of the recording. */
  recorded: number,
]

/** A response without its body, but with the length of that. */
type ResponseInHead = readonly [request: string, status: number, durationMs: number, length: number]

/**
 * Returns a commit as text, which is several times as fast to send to the thread as an object of many small ones: the
 * bodies of responses, after a line with their length, for they may contain line breaks; a line of JSON, then the
 * provenance of each computed cell, each cache entry, and each line of the recording, which the thread does not parse. No other process waits for the
 * calls of a store of SQLite.
 */
export function commitText(commit: CellCommit): string {
  const { actor, run, progress, cells, cache, responses = [], used = [], usage = [], recorded = [] } = commit
  const targets: CellsOf[] = []
  const lines: string[] = []
  const head: Head = [
    { actor, run, progress, used, usage },
    targets,
    cells.map((cell) => {
      const { key, version, result } = cell
      if (result.kind !== 'computed') return [indexIn(targets, cell), key, version, result]
      lines.push(JSON.stringify(result.provenance))
      return [indexIn(targets, cell), key, version, [result.value, result.inputHash]]
    }),
    cache.map(({ inputHash }) => inputHash),
    responses.map(({ request, status, durationMs, body }) => [request, status, durationMs, body.length]),
    recorded.length,
  ]
  for (const entry of cache) lines.push(cacheEntryText(entry))
  lines.push(...recorded)
  const bodies = responses.map(({ body }) => body).join('')
  return `${bodies.length}\n${bodies}${[JSON.stringify(head), ...lines].join('\n')}`
}

/** Reads a text of {@link commitText}. */
export function readCommit(text: string): CommitInText {
  let from = text.indexOf('\n') + 1
  const lines = text.slice(from + Number(text.slice(0, from))).split('\n')
  let next = 1
  const [common, targets, cells, hashes, responses, recorded] = JSON.parse(lines[0] ?? '') as Head
  return {
    ...common,
    cells: cells.map(([index, key, version, result]): ResultToStore<string> => {
      const of = targets[index] as CellsOf
      if ('kind' in result) return { ...of, key, version, result }
      const [value, inputHash] = result
      const provenance = lines[next++] ?? ''
      return { ...of, key, version, result: { kind: 'computed', value, inputHash, provenance } }
    }),
    cache: hashes.map((inputHash) => ({ inputHash, text: lines[next++] ?? '' })),
    responses: responses.map(([request, status, durationMs, length]) => {
      const body = text.slice(from, from + length)
      from += length
      return { request, status, durationMs, body }
    }),
    recorded: Array.from({ length: recorded }, () => lines[next++] ?? ''),
  }
}

/** Returns the index of a target in the list, and appends it if needed. */
function indexIn(targets: CellsOf[], { target, sha256, sources = null }: CellsOf): number {
  const isSame = (other: CellsOf): boolean =>
    other.target === target && other.sha256 === sha256 && other.sources === sources
  const known = targets.findIndex(isSame)
  return known === -1 ? targets.push({ target, sha256, sources }) - 1 : known
}
