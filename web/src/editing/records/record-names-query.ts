import { queryOptions } from '@tanstack/react-query'
import { readRecordsById } from '../../api/records-by-id.ts'

/** The names of records by id, from the field that names a record; records without a name are absent. */
export function recordNamesQuery(ids: readonly string[], field: string) {
  return queryOptions({
    queryKey: ['records', 'names', field, ...ids],
    queryFn: async ({ signal }) => {
      const records = await readRecordsById(ids, [field], signal)
      return new Map(
        records.flatMap((record) => {
          const name = record[field]
          return typeof name === 'string' && name !== '' ? [[String(record['id']), name] as const] : []
        }),
      )
    },
  })
}
