import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { SheetField } from '../api/contract.ts'
import { filterParameters, type RecordFilter } from '../api/record-filter.ts'
import { server } from '../api/server.ts'
import type { Scalar } from '../state/conditions.ts'

/** A value with the number of records that have it. */
export interface CountedValue {
  readonly value: Scalar | null
  readonly count: number | null
}

/** The most frequent values of a text field, or list items, that contain a text; those that begin with it first. */
export function valuesQuery({ name }: SheetField, filter: RecordFilter | null, wanted: string) {
  return queryOptions({
    queryKey: ['records', 'values', name, filter, wanted],
    queryFn: async ({ signal }): Promise<readonly CountedValue[]> => {
      const query = { fields: [name], ...filterParameters(filter), search: wanted }
      const { fields } = await server.records.summary(query, { signal })
      return (fields[name]?.top ?? []).filter(isScalarCount)
    },
    enabled: wanted !== '',
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  })
}

/** Whether a counted value can be used in a condition; lists and objects within lists cannot. */
export function isScalarCount(each: {
  readonly value: unknown
  readonly count: number
}): each is { value: Scalar; count: number } {
  return ['string', 'number', 'boolean'].includes(typeof each.value)
}
