/** `1 record`, `2 records`. */
export function countOf(count: number): string {
  return count === 1 ? '1 record' : `${count.toLocaleString('en')} records`
}
