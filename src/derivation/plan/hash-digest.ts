/** Returns an input hash as 16 characters of one byte each, for sets of a million hashes. */
export function digestOf(inputHash: string): string {
  const start = 'sha256:'.length
  return Buffer.from(inputHash.slice(start, start + 32), 'hex').toString('latin1')
}
