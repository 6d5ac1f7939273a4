import { queryOptions, useQueryClient } from '@tanstack/react-query'
import type { ChartAnswer } from '../../../src/wire/records/charts.ts'
import { server } from '../api/server.ts'
import { useActor } from './actor.ts'
import type { GroupsView } from './view-state.ts'

/** A chart that is pinned in the sheet. */
export type PinnedChart = ChartAnswer

export const chartsQuery = queryOptions({
  queryKey: ['charts'],
  queryFn: ({ signal }) => server.charts.list({ signal }),
  staleTime: 15_000,
})

/** Returns the groups of a chart; null if the field by which they are grouped is removed. */
export function groupsOfChart({ group, split, total, period }: PinnedChart): GroupsView | null {
  return group === null ? null : { by: group, split, total, period }
}

interface PinCharts {
  /** Pins groups under a name. Throws ApiError. */
  pin(name: string, groups: GroupsView): Promise<void>
  /** Throws ApiError. */
  rename(chart: PinnedChart, groups: GroupsView, name: string): Promise<void>
  /** Throws ApiError. */
  unpin(chart: PinnedChart): Promise<void>
}

/** Returns the operations that pin, rename and unpin charts, under the present actor. */
export function usePinCharts(): PinCharts {
  const client = useQueryClient()
  const [actor] = useActor()
  const refresh = (): Promise<unknown> => client.fetchQuery({ ...chartsQuery, staleTime: 0 })
  const body = (name: string, { by, ...groups }: GroupsView) => ({ name, group: by, ...groups })
  return {
    pin: async (name, groups) => {
      await server.charts.create(body(name, groups), { actor })
      await refresh()
    },
    rename: async ({ id }, groups, name) => {
      await server.charts.replace(id, body(name, groups), { actor })
      await refresh()
    },
    unpin: async ({ id }) => {
      await server.charts.delete(id, { actor })
      await refresh()
    },
  }
}
