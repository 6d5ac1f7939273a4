import { useQueryClient } from '@tanstack/react-query'
import { server } from '../api/server.ts'
import { useActor } from '../state/actor.ts'
import { dropOwnSettings, type ColumnSettings } from '../state/columns.ts'
import { viewsQuery, type SavedView } from '../state/saved-view.ts'
import type { ListState } from '../state/view-state.ts'
import { showError, showSuccess } from '../ui/toasts.tsx'

interface Saving {
  readonly sheet: string
  /** The filter and sort order of the grid. */
  readonly view: ListState
  readonly settings: ColumnSettings
  /** Called with the id of a saved view, to open it. */
  readonly onSaved: (id: string) => void
}

interface SaveView {
  /** Saves what the grid shows as a new view. Throws ApiError. */
  create(name: string): Promise<void>
  /** Saves what the grid shows in a view. */
  save(id: string, name: string): void
  /** Throws ApiError. */
  rename(saved: SavedView, name: string): Promise<void>
  /** Throws ApiError. */
  remove(id: string): Promise<void>
}

/** Returns the operations that save, rename and delete views. */
export function useSaveView({ sheet, view, settings, onSaved }: Saving): SaveView {
  const client = useQueryClient()
  const [actor] = useActor()
  const refresh = (): Promise<unknown> => client.fetchQuery({ ...viewsQuery, staleTime: 0 })
  const shown = (name: string) => ({
    name,
    conditions: view.conditions.map((condition) => ({ ...condition })),
    sql: view.sql,
    sort: view.sort === null ? [] : view.sort.split(','),
    columns: { ...settings },
  })
  const save = async (id: string, name: string): Promise<void> => {
    await server.views.replace(id, shown(name), { actor })
    await refresh()
    dropOwnSettings(sheet, id)
    onSaved(id)
    showSuccess(`Saved the view ${name}`)
  }
  return {
    create: async (name) => {
      const { id } = await server.views.create(shown(name), { actor })
      await refresh()
      onSaved(id)
    },
    save: (id, name) => void save(id, name).catch(showError),
    rename: async ({ id, conditions, sql, sort, columns }, name) => {
      await server.views.replace(id, { name, conditions, sql, sort, columns }, { actor })
      await refresh()
    },
    remove: async (id) => {
      await server.views.delete(id, { actor })
      await refresh()
      dropOwnSettings(sheet, id)
    },
  }
}
