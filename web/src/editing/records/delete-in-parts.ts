/** The maximum bytes of ids in a URL, below the server's limit of 65,536 bytes. */
const LIST_BYTES = 48_000

/** Divides ids into as few lists as fit into a URL each. */
export function inParts(ids: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = []
  let size = Infinity
  for (const id of ids) {
    const length = encodeURIComponent(id).length + '%2C'.length
    if (size + length > LIST_BYTES) {
      parts.push([])
      size = 0
    }
    parts.at(-1)?.push(id)
    size += length
  }
  return parts
}
