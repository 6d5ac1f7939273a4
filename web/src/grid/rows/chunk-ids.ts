/** The maximum length of ids in a URL, below the server's limit. */
const LONGEST = 30_000

/** Divides ids into as few lists as fit into a URL each. */
export function chunkIds(ids: readonly string[]): readonly (readonly string[])[] {
  const chunks: string[][] = []
  let room = 0
  for (const id of ids) {
    const length = encodeURIComponent(id).length + 3
    if (length > room) {
      chunks.push([])
      room = LONGEST
    }
    chunks.at(-1)?.push(id)
    room -= length
  }
  return chunks
}
