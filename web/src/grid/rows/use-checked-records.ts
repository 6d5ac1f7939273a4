import { useCallback, useState } from 'react'
import { filterParameters } from '../../api/record-filter.ts'
import { server } from '../../api/server.ts'
import { showSuccess, showError } from '../../ui/toasts.tsx'
import type { Rows } from './use-rows.ts'
import { countOf } from '../../ui/format.ts'

/** The records checked for a run or deletion. */
export interface CheckedRecords {
  readonly ids: ReadonlySet<string>
  /** Checks or unchecks a row; with `through`, all rows since the last one. */
  toggle(row: number, through: boolean): void
  /** Checks further records. */
  add(ids: readonly string[]): void
  /** Checks all records of the list, up to the maximum. */
  all(): void
  none(): void
}

/** The maximum, which is the number of ids in one response of the server. */
const MAX = 10_000

export function useCheckedRecords(rows: Rows): CheckedRecords {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [last, setLast] = useState<number | null>(null)
  const none = useCallback(() => setIds(new Set()), [])
  return {
    ids,
    toggle: (row, through) => {
      const id = rows.at(row)?.['id']
      if (typeof id !== 'string') return
      const isOn = !ids.has(id)
      const next = new Set(ids)
      for (const each of through && last !== null ? between(last, row) : [row]) {
        const its = rows.at(each)?.['id']
        if (typeof its !== 'string') continue
        if (isOn) next.add(its)
        else next.delete(its)
      }
      setIds(next)
      setLast(row)
    },
    add: (more) => setIds((now) => new Set([...now, ...more])),
    all: () => {
      const checkAll = async (): Promise<void> => {
        const found = await readIds(rows)
        setIds(new Set(found))
        if (found.length < (rows.count ?? 0)) {
          showSuccess(`Only the first ${countOf(found.length, 'record')} are selected: this is the maximum`)
        }
      }
      checkAll().catch(showError)
    },
    none,
  }
}

async function readIds({ selection: { filter, sort } }: Rows): Promise<string[]> {
  const { records } = await server.records.list({
    fields: ['id'],
    ...filterParameters(filter),
    sort,
    limit: MAX,
  })
  return records.map((record) => String(record['id']))
}

function between(a: number, b: number): number[] {
  const [from, to] = a < b ? [a, b] : [b, a]
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
