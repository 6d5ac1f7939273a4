import { showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { MAX_COLUMNS } from '../io/file-limits.ts'

/**
 * Returns the trimmed names of a file's columns. Throws ValidationError, naming place and column, for a column
 * without a name and for repeated names.
 */
export function checkColumns(cells: readonly string[], place: string): readonly string[] {
  if (cells.length > MAX_COLUMNS) {
    throw new ValidationError(`${place}: the header has more than ${MAX_COLUMNS} columns`, 'unreadable_file')
  }
  const names = cells.map((cell) => cell.trim())
  const first = new Map<string, number>()
  for (const [index, name] of names.entries()) {
    const column = index + 1
    if (name === '') {
      throw new ValidationError(
        `${place}, column ${column}: the column has no name; name it, or take it out`,
        'unreadable_file',
      )
    }
    const earlier = first.get(name)
    if (earlier !== undefined) {
      throw new ValidationError(
        `${place}, column ${column}: the name ${showValue(name)} is that of column ${earlier} already; rename one of them`,
        'unreadable_file',
      )
    }
    first.set(name, column)
  }
  return names
}
