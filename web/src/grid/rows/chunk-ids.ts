/** Ids may be long: requests that name them stay well below the longest URL that the server takes. */
const LONGEST = 30_000

/** The ids in as few lists as fit into a URL each. */
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
