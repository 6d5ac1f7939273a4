import type { RecordKey, WorkItem } from '../../store/cell-work.ts'

/** The items of one record: one for each list, or undefined. */
export interface RecordItems {
  readonly key: RecordKey
  readonly items: readonly (WorkItem | undefined)[]
}

/** Merges several lists, each ascending by key, record by record. */
export async function* byRecord(lists: readonly AsyncGenerator<WorkItem>[]): AsyncGenerator<RecordItems> {
  try {
    const heads = await Promise.all(lists.map(nextOf))
    for (;;) {
      const key = heads.reduce((lowest, head) => Math.min(lowest, head?.key ?? Infinity), Infinity)
      if (key === Infinity) return
      yield { key, items: heads.map((head) => (head?.key === key ? head : undefined)) }
      for (const [index, list] of lists.entries()) {
        if (heads[index]?.key === key) heads[index] = await nextOf(list)
      }
    }
  } finally {
    await Promise.all(lists.map((list) => list.return(undefined)))
  }
}

async function nextOf(list: AsyncGenerator<WorkItem>): Promise<WorkItem | undefined> {
  const next = await list.next()
  return next.done === true ? undefined : next.value
}

/** Yields the items of chunks one by one. */
export async function* oneByOne(pieces: AsyncGenerator<readonly WorkItem[]>): AsyncGenerator<WorkItem> {
  for await (const piece of pieces) yield* piece
}

/** Groups items into chunks of a size. */
export async function* inChunks(
  items: AsyncIterable<WorkItem>,
  size: number,
): AsyncGenerator<readonly WorkItem[]> {
  let chunk: WorkItem[] = []
  for await (const item of items) {
    chunk.push(item)
    if (chunk.length < size) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}
