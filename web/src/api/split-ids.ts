/** The maximum bytes of ids in a URL, below the server's limit of 65,536 bytes. */
const MAX_BYTES = 48_000

/** Divides ids into as few lists as fit into a URL each, of at most `most` ids. */
export function splitIds(ids: readonly string[], most = Infinity): readonly (readonly string[])[] {
  const parts: string[][] = []
  let [part, bytes]: [string[], number] = [[], Infinity]
  for (const id of ids) {
    const length = encodeURIComponent(JSON.stringify(id)).length + '%2C'.length
    if (part.length === most || bytes + length > MAX_BYTES) {
      parts.push((part = []))
      bytes = 0
    }
    part.push(id)
    bytes += length
  }
  return parts
}
