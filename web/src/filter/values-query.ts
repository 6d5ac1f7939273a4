import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { SheetField } from '../api/contract.ts'
import { server } from '../api/server.ts'
import type { Scalar } from '../state/conditions.ts'
import { quotedName } from '../state/condition-sql.ts'

/** A value that records have, and how many of them. */
export interface CountedValue {
  readonly value: Scalar | null
  readonly count: number | null
}

const MOST = 50

/** The most frequent values of a text field, or items of a list, that have a text in them; first those that begin so. */
export function valuesQuery(field: SheetField, filter: string | null, wanted: string) {
  return queryOptions({
    queryKey: ['records', 'values', field.name, filter, wanted],
    queryFn: async ({ signal }): Promise<readonly CountedValue[]> => {
      const { rows } = await server.query(valuesSql(field, filter), [wanted, wanted], { signal })
      return rows.map(({ value, count }) => ({ value: String(value), count: Number(count) }))
    },
    enabled: wanted !== '',
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  })
}

/** The filter stands in a query of its own, where no name means anything but a field. */
export function valuesSql({ name, type }: Pick<SheetField, 'name' | 'type'>, filter: string | null): string {
  const where = filter === null ? '' : ` WHERE (\n${filter}\n)`
  const found = `(SELECT ${quotedName(name)} AS found FROM records${where})`
  const [from, value] =
    type === 'array'
      ? [`${found} AS lists, json_each(lists.found) AS item`, 'item.value']
      : [`${found} AS texts`, 'texts.found']
  return `SELECT ${value} AS value, count(*) AS count FROM ${from}
    WHERE instr(lower(${value}), lower(?)) > 0 GROUP BY 1
    ORDER BY instr(lower(${value}), lower(?)) > 1, count(*) DESC, 1 LIMIT ${MOST}`
}
