/** Whether two values of a cell are equal; undefined equals null, and the order of object keys does not count. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b || (a ?? null) === (b ?? null)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, index) => sameValue(item, b[index]))
  }
  const [inA, inB] = [Object.entries(a), new Map(Object.entries(b))]
  return inA.length === inB.size && inA.every(([key, item]) => inB.has(key) && sameValue(item, inB.get(key)))
}
