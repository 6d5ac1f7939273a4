/** How long the list of ids of one request may be: an address has at most 65,536 bytes. */
const LIST_BYTES = 48_000

/** The ids in as few lists as go into an address each. */
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
