/** An input hash in 16 characters of a byte each, for those who remember a million of them. */
export function digestOf(inputHash: string): string {
  const start = 'sha256:'.length
  return Buffer.from(inputHash.slice(start, start + 32), 'hex').toString('latin1')
}
