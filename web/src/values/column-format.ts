import type { SheetField } from '../api/contract.ts'

/** The appearances of texts besides the automatic one, which makes URLs and email addresses links. */
export const APPEARANCES = ['plain', 'image', 'markdown'] as const

/** The format of a column's values; members that are absent follow the type. */
export interface ColumnFormat {
  /** The number of decimals; absent for those that a value has. */
  readonly decimals?: number
  /** Whether digits are grouped in threes; absent for yes. */
  readonly grouping?: boolean
  /** Whether timestamps are shown in UTC; absent for local time. */
  readonly utc?: boolean
  readonly appearance?: (typeof APPEARANCES)[number]
}

export const MAX_DECIMALS = 10

/** Returns a stored format without members that are not valid. */
export function parseFormat(value: unknown): ColumnFormat {
  if (typeof value !== 'object' || value === null) return {}
  const { decimals, grouping, utc, appearance } = value as Record<string, unknown>
  const known = APPEARANCES.find((each) => each === appearance)
  const isCount = Number.isInteger(decimals) && Number(decimals) >= 0 && Number(decimals) <= MAX_DECIMALS
  return {
    ...(isCount && { decimals: Number(decimals) }),
    ...(typeof grouping === 'boolean' && { grouping }),
    ...(typeof utc === 'boolean' && { utc }),
    ...(known !== undefined && { appearance: known }),
  }
}

const YEAR = /(?:^|[\s_-])years?(?:$|[\s_-])/i

/** Returns the format of a field without a setting: the digits of years are not grouped. */
export function defaultFormat({
  type,
  name,
  title,
}: Pick<SheetField, 'type' | 'name' | 'title'>): ColumnFormat {
  return type === 'integer' && (YEAR.test(name) || YEAR.test(title)) ? { grouping: false } : {}
}
