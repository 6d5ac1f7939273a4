/**
 * Reads a comma-separated parameter (D12): items are trimmed, repeats count once, empty items do not count. A
 * parameter that is absent, or has no item at all, is null.
 */
export function commaList(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null
  const items = new Set<string>()
  for (const part of text.split(',')) {
    const item = part.trim()
    if (item !== '') items.add(item)
  }
  return items.size === 0 ? null : [...items]
}
