/**
 * Columns of `"$data"` that keep the values of removed and converted fields, so that earlier states can be read and brought
 * back. No field name can contain `$`.
 */
const KEPT_COLUMN = /^\$kept_\d{1,16}_\d{1,4}$/

/** Returns the column for the field with this index among those that the change `seq` removes, and then converts. */
export function keptColumn(seq: number, index: number): string {
  return `$kept_${seq}_${index}`
}

export function isKeptColumn(name: string): boolean {
  return KEPT_COLUMN.test(name)
}
