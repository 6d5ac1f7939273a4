import { LRUCache } from 'lru-cache'

/** What an answer takes beside its bytes. */
const OVERHEAD = 128

/** Keeps answers for as long as nothing is written, bounded by their bytes. The least recently used go first. */
export type AnswerCache<T extends Answer> = Pick<LRUCache<string, T>, 'get' | 'set' | 'clear'>

interface Answer {
  readonly json: Uint8Array
}

/** An empty cache of so many bytes at most. */
export function answerCache<T extends Answer>(maxBytes: number): AnswerCache<T> {
  return new LRUCache({
    maxSize: maxBytes,
    // One answer must not push all others out.
    maxEntrySize: Math.floor(maxBytes / 8),
    sizeCalculation: ({ json }, key) => json.byteLength + 2 * key.length + OVERHEAD,
  })
}
