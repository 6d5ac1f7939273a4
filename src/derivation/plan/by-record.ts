import type { RecordKey, WorkItem } from '../../store/cell-work.ts'

/** What there is for one record: of each list its item, if it has one. */
export interface RecordItems {
  readonly key: RecordKey
  readonly items: readonly (WorkItem | undefined)[]
}

/** Goes through several lists, each ascending by key, at the same time: record by record. */
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

/** The items of pieces, one by one. */
export async function* oneByOne(pieces: AsyncGenerator<readonly WorkItem[]>): AsyncGenerator<WorkItem> {
  for await (const piece of pieces) yield* piece
}

/** Puts items together, so many at a time. */
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
